import { parseArgs } from 'node:util'
import { bringUpStack, type StackHandle } from '../support/global-setup.ts'
import { createRest, type Rest } from '../support/rest.ts'
import { median, percentile, round, type BenchResult } from './result.ts'
import { measureByHand, measureOurStart } from './serving/cold-start.ts'
import { scaleEngines, waitForEngines, type BenchEngine } from './serving/engines.ts'
import { measurePublication, type Publication, type TrainedModel } from './serving/publish.ts'
import { measureSwap } from './serving/swap.ts'

const defaultJobs = 10
const swapsPerModel = 3
const defaultStarts = 3
const engineCount = 2

/** The promised figures. */
const goals: Readonly<Record<string, number>> = {
  training_ended_to_served_p50_ms: 300,
  cold_start_vs_by_hand: 1.1,
}
// Other load of the machine changes a figure by less than this.
const failsBeyond = 10

/**
 * Measures how soon a new step is served on every engine, what it costs to load an adapter for a chat, and how long an
 * engine needs from zero beside a vLLM that is started by hand.
 */
export async function benchServing(args: string[]): Promise<BenchResult> {
  const { jobs, starts } = readOptions(args)
  const { handle, tearDown } = await bringUpStack(true)
  try {
    const rest = createRest(handle)
    await scaleEngines(handle, engineCount)
    const engines = await waitForEngines(handle, engineCount)
    const { models, figures } = await measureJobs(rest, engines, jobs)
    const swap = await measureSwaps(rest, engines, models)
    const start = await measureStarts(handle, rest, { model: models.at(-1)!, count: starts })
    const result = {
      ratios: { ...swap.ratios, ...start.ratios },
      figures: { ...figures, ...swap.figures, ...start.figures },
    }
    printGoals(result)
    return result
  } finally {
    await tearDown()
  }
}

function readOptions(args: string[]): { jobs: number; starts: number } {
  const options = { jobs: { type: 'string' }, starts: { type: 'string' } } as const
  const { values } = parseArgs({ args, options })
  const read = (name: keyof typeof options, byDefault: number) => {
    const count = Number(values[name] ?? byDefault)
    if (!Number.isInteger(count) || count < 1) throw new Error(`--${name} must be a whole number from 1 on`)
    return count
  }
  return { jobs: read('jobs', defaultJobs), starts: read('starts', defaultStarts) }
}

async function measureJobs(rest: Rest, engines: readonly BenchEngine[], count: number) {
  const jobs: Publication[] = []
  while (jobs.length < count) {
    const job = await measurePublication(rest, engines)
    jobs.push(job)
    process.stderr.write(
      `job ${jobs.length} of ${count}: ${round(job.servedMs)} ms, ${round(job.againMs)} ms a moment later\n`,
    )
  }
  const served = jobs.map(({ servedMs }) => servedMs)
  const figures = {
    training_ended_to_served_p50_ms: round(median(served)),
    training_ended_to_served_max_ms: round(percentile(served, 1)),
    same_requests_later_p50_ms: round(median(jobs.map(({ againMs }) => againMs))),
  }
  return { models: jobs.map(({ model }) => model), figures }
}

async function measureSwaps(rest: Rest, engines: readonly BenchEngine[], models: TrainedModel[]): Promise<BenchResult> {
  const swaps = []
  for (const model of models) {
    for (let times = 0; times < swapsPerModel; times++) {
      const swap = await measureSwap(rest, engines, model)
      swaps.push(swap)
      process.stderr.write(`chat with a load: ${round(swap.coldMs)} ms, the next one: ${round(swap.loadedMs)} ms\n`)
    }
  }
  return {
    ratios: { chat_with_adapter_load_vs_loaded: round(median(swaps.map(({ coldMs, loadedMs }) => coldMs / loadedMs))) },
    figures: {
      chat_with_adapter_load_p50_ms: round(median(swaps.map(({ coldMs }) => coldMs))),
      chat_loaded_p50_ms: round(median(swaps.map(({ loadedMs }) => loadedMs))),
    },
  }
}

/** The two sides take turns, so that other load of the machine affects both. */
async function measureStarts(
  stack: StackHandle,
  rest: Rest,
  { model, count }: { model: TrainedModel; count: number },
): Promise<BenchResult> {
  const [oursMs, byHandMs]: [number[], number[]] = [[], []]
  while (oursMs.length < count) {
    byHandMs.push(await measureByHand(stack, model))
    oursMs.push(await measureOurStart(stack, rest, model))
    process.stderr.write(
      `start ${oursMs.length} of ${count}: ${round(oursMs.at(-1)!)} ms, ${round(byHandMs.at(-1)!)} ms by hand\n`,
    )
  }
  return {
    ratios: { cold_start_vs_by_hand: round(median(oursMs.map((ms, index) => ms / byHandMs[index]!))) },
    figures: { cold_start_ms: round(median(oursMs)), cold_start_by_hand_ms: round(median(byHandMs)) },
  }
}

/** @throws {Error} if a figure is far beyond its goal */
function printGoals({ ratios, figures }: BenchResult): void {
  const measured: Record<string, number> = { ...figures, ...ratios }
  for (const [name, goal] of Object.entries(goals))
    process.stdout.write(`${name}: goal ${goal}, measured ${measured[name]}\n`)
  const failed = Object.entries(goals).filter(([name, goal]) => measured[name]! > goal * failsBeyond)
  if (failed.length > 0)
    throw new Error(`more than ${failsBeyond} times the goal: ${failed.map(([name]) => name).join(', ')}`)
}
