import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { bringUpStack, type StackHandle } from '../support/global-setup.ts'
import type { Contestant, EngineAddress } from './gateway/contestants/contestant.ts'
import { withLitellm } from './gateway/contestants/litellm.ts'
import { withNginx } from './gateway/contestants/nginx.ts'
import { withOurs } from './gateway/contestants/ours.ts'
import { withPipe } from './gateway/contestants/pipe.ts'
import { listGoals, medianOf } from './gateway/goals.ts'
import { withLoadClient, type LoadClient } from './gateway/load.ts'
import { measureMemory, type Memory } from './gateway/memory.ts'
import { withMockEngine } from './gateway/mock.ts'
import { readOptions, type GatewayOptions, type ServerName } from './gateway/options.ts'
import { writeReport } from './gateway/report.ts'
import { measureRounds, type Sample, type Samples } from './gateway/rounds.ts'
import { verifyReplies } from './gateway/verify.ts'
import { workloadNames } from './gateway/workloads.ts'
import { round, type BenchResult } from './result.ts'

// LiteLLM breaks off some of so many streams on a busy machine.
const measuredMemory: ReadonlySet<string> = new Set(['pipe', 'ours', 'ours_beside'])

type Work<T> = (contestants: Contestant[]) => Promise<T>

/**
 * Measures the cost of passing a chat on: through our apiserver with key, limits and usage, through a bare Node pipe,
 * through nginx and through LiteLLM's proxy. All use the same mock engine, and are measured in turn.
 */
export async function benchGateway(args: string[]): Promise<BenchResult> {
  const options = readOptions(args)
  const { handle, tearDown } = await bringUpStack(false)
  try {
    const { report, result } = await benchOnStack(handle, options)
    process.stdout.write(report)
    return result
  } finally {
    await tearDown()
  }
}

/** The results, also as tables for people. */
interface GatewayBench {
  report: string
  result: BenchResult
}

/** Measures on a running stack. The test of this benchmark uses it too. */
export function benchOnStack(stack: StackHandle, options: GatewayOptions): Promise<GatewayBench> {
  return withMockEngine((engine) =>
    withLoadClient((client) =>
      withServers({ options, engine, stack }, (servers) =>
        measure(client, [describeDirect(engine), ...servers], options),
      ),
    ),
  )
}

interface Place {
  options: GatewayOptions
  engine: EngineAddress
  stack: StackHandle
}

/** Starts the requested servers, which all run at the same time. Servers that cannot be installed are left out. */
function withServers<T>({ options, engine, stack }: Place, work: Work<T>): Promise<T> {
  const profile = options.profile && ['--cpu-prof', `--cpu-prof-dir=${path.resolve(options.profile)}`]
  const starts: Record<ServerName, (next: Work<T>) => Promise<T>> = {
    pipe: (next) => withPipe(engine, (found) => next([found])),
    nginx: (next) => orWithout('nginx', next, (started) => withNginx(engine, started)),
    litellm: (next) => orWithout('litellm', next, (started) => withLitellm(engine, started)),
    ours: (next) => withOurs({ engine, stack, nodeOptions: profile || [] }, (found) => withBeside(found, next)),
  }
  const withBeside = (found: Contestant[], next: Work<T>) => {
    const { beside: root } = options
    if (root === undefined) return next(found)
    const add: Work<T> = ([one]) => next([...found, { ...one!, name: 'ours_beside' }])
    return withOurs({ engine, stack, nodeOptions: [], root }, add)
  }
  const start = (left: readonly ServerName[], before: Contestant[]): Promise<T> => {
    const [name, ...others] = left
    return name ? starts[name]((found) => start(others, [...before, ...found])) : work(before)
  }
  return start(options.only, [])
}

/** If another project's server is not available for this machine, a line says why, and the others are measured. */
async function orWithout<T>(
  name: string,
  next: Work<T>,
  start: (started: (found: Contestant) => Promise<T>) => Promise<T>,
): Promise<T> {
  let hasStarted = false
  try {
    return await start((found) => {
      hasStarted = true
      return next([found])
    })
  } catch (error) {
    if (hasStarted || !(error instanceof Error)) throw error
    process.stderr.write(`${name} is left out: ${error.message}\n`)
    return next([])
  }
}

/** The engine itself, without a server in between. */
function describeDirect({ host, port }: EngineAddress): Contestant {
  const listProcesses = () => ({ own: [], postgres: [] })
  const models = ['bench-model']
  return { name: 'direct', host, port, apiKey: 'none', models, listProcesses, workloads: workloadNames, share: 1 }
}

async function measure(
  client: LoadClient,
  contestants: Contestant[],
  { size }: Pick<GatewayOptions, 'size'>,
): Promise<GatewayBench> {
  const memory = new Map<string, Memory>()
  await delay(size.restMs)
  for (const contestant of contestants) {
    if (!measuredMemory.has(contestant.name)) continue
    memory.set(contestant.name, await measureMemory(client, contestant, size))
  }
  for (const contestant of contestants) await verifyReplies(client, contestant)
  const samples = await measureRounds(client, contestants, size)
  const goals = listGoals(samples, memory)
  const names = contestants.map(({ name }) => name)
  const report = writeReport(names, samples, { goals, memory })
  const ratios = Object.fromEntries(goals.map(({ name, measured }) => [name, measured]))
  return { report, result: { ratios, figures: listFigures(samples, memory) } }
}

/** `cpuUs` is `cpu_us`. */
const nameFigure = (figure: keyof Sample) => figure.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

function listFigures(samples: Samples, memory: Map<string, Memory>): Record<string, number> {
  const figures: Record<string, number> = {}
  for (const [key, found] of samples) {
    const name = key.replaceAll(' ', '_')
    for (const figure of ['cpuUs', 'postgresUs', 'p50Ms', 'p99Ms', 'requestsPerS'] as const) {
      figures[`${name}_${nameFigure(figure)}`] = round(medianOf(found, figure))
    }
  }
  for (const [name, { idleMb, withStreamsMb }] of memory) {
    figures[`${name}_idle_mb`] = round(idleMb)
    figures[`${name}_with_streams_mb`] = round(withStreamsMb)
  }
  return figures
}
