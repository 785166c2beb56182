import { round } from '../result.ts'
import { medianOf, type Goal } from './goals.ts'
import type { Memory } from './memory.ts'
import { keyOf, type Sample, type Samples } from './rounds.ts'
import { workloadNames, type WorkloadName } from './workloads.ts'

const titles: Record<WorkloadName, string> = {
  '4kb': '4 KB',
  '64kb_reply': '64 KB reply',
  '64kb_request': '64 KB request',
  stream: 'a stream',
}

/** Markdown for people: goals, processor time, latency, memory. */
export function writeReport(names: string[], samples: Samples, found: { goals: Goal[]; memory: Map<string, Memory> }) {
  const goals = found.goals.map(({ name, goal, measured }) => [name, goal, String(measured)])
  const servers = names.filter((name) => name !== 'direct')
  const tables = [
    writeTable(['figure', 'goal', 'measured'], goals),
    writeTable(
      ['CPU microseconds a request (Postgres in it) [least round]', ...servers],
      listRows(servers, samples, describeCpu),
    ),
    writeTable(
      ['p50 / p99 in ms, one at a time', ...names],
      listRows(names, samples, describeLatency).slice(workloadNames.length),
    ),
    writeTable(
      ['memory in MB: idle, with streams', ...found.memory.keys()],
      [
        [
          '',
          ...[...found.memory.values()].map(({ idleMb, withStreamsMb }) => `${round(idleMb)}, ${round(withStreamsMb)}`),
        ],
      ],
    ),
  ]
  return `${tables.join('\n\n')}\n`
}

function listRows(names: string[], samples: Samples, describe: (found: Sample[]) => string): string[][] {
  return [16, 1].flatMap((concurrency) =>
    workloadNames.map((workload) => [
      `${titles[workload]}, ${concurrency} at a time`,
      ...names.map((name) => describe(samples.get(keyOf(name, { workload, concurrency })) ?? [])),
    ]),
  )
}

function describeCpu(found: Sample[]): string {
  if (found.length === 0) return ''
  const least = Math.min(...found.map(({ cpuUs }) => cpuUs))
  const postgres = medianOf(found, 'postgresUs')
  const share = postgres > 0 ? ` (${round(postgres)})` : ''
  return `${round(medianOf(found, 'cpuUs'))}${share} [${round(least)}]`
}

function describeLatency(found: Sample[]): string {
  if (found.length === 0) return ''
  return `${round(medianOf(found, 'p50Ms'))} / ${round(medianOf(found, 'p99Ms'))}`
}

function writeTable(head: string[], rows: string[][]): string {
  const lines = [head, head.map(() => '---'), ...rows]
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}
