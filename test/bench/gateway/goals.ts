import { median, round } from '../result.ts'
import type { Memory } from './memory.ts'
import { keyOf, type Sample, type Samples } from './rounds.ts'
import type { WorkloadName } from './workloads.ts'

/** A promised figure and the measured one. */
export interface Goal {
  name: string
  goal: string
  measured: number
}

const plain = ['4kb', '64kb_reply', '64kb_request'] as const
/** Lists the goals that can be computed from the available contestants. */
export function listGoals(samples: Samples, memory: ReadonlyMap<string, Memory>): Goal[] {
  const of = (name: string, workload: WorkloadName, concurrency: number) =>
    samples.get(keyOf(name, { workload, concurrency })) ?? []
  const goals: Goal[] = []
  const add = (name: string, goal: string, measured: number) => {
    if (Number.isFinite(measured)) goals.push({ name, goal, measured: round(measured) })
  }
  for (const concurrency of [16, 1]) {
    for (const workload of [...plain, 'stream'] as const) {
      const name = workload === 'stream' ? 'cpu_per_event_vs_pipe' : `cpu_vs_bare_pipe_${workload}`
      const [ours, pipe] = [of('ours', workload, concurrency), of('pipe', workload, concurrency)]
      add(
        `${name}_at_${concurrency}`,
        '',
        compare(ours, pipe, ({ cpuUs }) => cpuUs),
      )
    }
  }
  for (const workload of [...plain, 'stream'] as const) {
    const [ours, litellm] = [of('ours', workload, 16), of('litellm', workload, 16)]
    add(
      `rps_per_core_vs_litellm_${workload}`,
      workload === 'stream' ? 'at least 10' : 'at least 20',
      compare(litellm, ours, ({ cpuUs }) => cpuUs),
    )
  }
  for (const workload of plain) {
    const [ours, direct] = [of('ours', workload, 1), of('direct', workload, 1)]
    add(`p50_beyond_engine_${workload}_ms`, 'at most 1', median(subtract(ours, direct)))
  }
  for (const workload of [...plain, 'stream'] as const) {
    const [ours, beside] = [of('ours', workload, 16), of('ours_beside', workload, 16)]
    add(
      `cpu_vs_beside_${workload}`,
      '',
      compare(ours, beside, ({ cpuUs }) => cpuUs),
    )
  }
  const many = of('ours_1000_models', '4kb', 16)
  add(
    'cpu_1000_models_vs_one',
    '',
    compare(many, of('ours', '4kb', 16), ({ cpuUs }) => cpuUs),
  )
  const found = memory.get('ours')
  if (found) {
    add('idle_mb', 'at most 150', found.idleMb)
    add('more_mb_with_streams', 'at most 100', found.withStreamsMb - found.idleMb)
  }
  return goals
}

export function medianOf(samples: readonly Sample[], figure: keyof Sample): number {
  return samples.length > 0 ? median(samples.map((sample) => sample[figure])) : NaN
}

/** The median of one contestant's figure relative to another's in the same round. */
function compare(one: Sample[], other: Sample[], figure: (sample: Sample) => number): number {
  if (one.length === 0 || other.length !== one.length) return NaN
  return median(one.map((sample, index) => figure(sample) / figure(other[index]!)))
}

function subtract(one: Sample[], other: Sample[]): number[] {
  if (other.length !== one.length || one.length === 0) return [NaN]
  return one.map(({ p50Ms }, index) => p50Ms - other[index]!.p50Ms)
}
