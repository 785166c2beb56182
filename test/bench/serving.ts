import path from 'node:path'
import { findFreePort } from '../support/free-port.ts'
import type { StackHandle } from '../support/global-setup.ts'
import { createRest, sampleGroup, type Rest } from '../support/rest.ts'
import { atMost, defineBench, medians, note, ratioOf, takeTurns, type Figures } from './harness.ts'
import { startByHand } from './serving/by-hand.ts'
import { scaleEngines, waitForEngines, type BenchEngine } from './serving/engines.ts'

const engineCount = 2
const prompt = 'Tell me about the sea.'
const waitSeconds = 60

/** How soon a new step is served on every engine, and how long an engine needs from zero beside a vLLM started by hand. */
export const serving = defineBench({
  stack: 'whole',
  counts: { jobs: 10, rounds: 3 },
  goals: { training_ended_to_served_ms: atMost(300), cold_start_vs_by_hand: atMost(1.1) },
  measure: async ({ stack, counts }) => {
    const rest = createRest(stack)
    await scaleEngines(stack, engineCount)
    const engines = await waitForEngines(stack, engineCount)
    const models: TrainedModel[] = []
    const served: Figures[] = []
    while (models.length < counts.jobs) {
      const { model, figures } = await measurePublication(rest, engines)
      models.push(model)
      served.push(figures)
      note(`job ${models.length} of ${counts.jobs}`, figures)
    }
    const starts = await measureStarts(stack, rest, { model: models.at(-1)!, rounds: counts.rounds })
    return { ...medians(served), ...starts }
  },
})

/** A model with its newest checkpoint. */
interface TrainedModel {
  address: string
  checkpointId: string
}

/**
 * Trains a model one step, and asks each engine for it at once, and once more: publishing cannot be faster. The client looks
 * up the step's id in that time.
 */
async function measurePublication(rest: Rest, engines: readonly BenchEngine[]) {
  const { id, address } = await rest.createModel()
  const group = await sampleGroup(rest, address, prompt, (_, index) => index % 2)
  await waitForEnd(rest, await rest.startJob(id, [group]))
  let checkpointId = ''
  const ask = async () => {
    checkpointId = (await rest.listCheckpoints(id)).toSorted((a, b) => b.step - a.step)[0]!.id
    await Promise.all(engines.map((engine) => engine.ask(checkpointId)))
  }
  const figures = { training_ended_to_served_ms: await time(ask), same_requests_later_ms: await time(ask) }
  return { model: { address, checkpointId }, figures }
}

interface EventPage {
  data: { id: string; type: string }[]
}

/** Waits for each next event, so that the last one arrives at once. */
async function waitForEnd(rest: Rest, jobId: string): Promise<void> {
  for (let after = ''; ;) {
    const events = `/v1/preview/training-jobs/${jobId}/events?wait=${waitSeconds}${after && `&after=${after}`}`
    const { data } = await rest.call<EventPage>('GET', events)
    if (data.some(({ type }) => type === 'training_ended')) return
    if (data.some(({ type }) => type === 'training_failed')) throw new Error('a training job of the benchmark failed')
    after = data.at(-1)?.id ?? after
  }
}

async function measureStarts(
  stack: StackHandle,
  rest: Rest,
  { model, rounds }: { model: TrainedModel; rounds: number },
): Promise<Figures> {
  const empty = async () => {
    await scaleEngines(stack, 0)
    await waitForEngines(stack, 0)
  }
  /** Until a chat that waits for the first engine is answered. */
  const ours = async () => {
    await empty()
    const start = async () => {
      await scaleEngines(stack, 1)
      await rest.sample(model.address, prompt, { max_completion_tokens: 1 })
    }
    return { ms: await time(start) }
  }
  /** As a person would start it, with the same model, adapter and sizes, while there is no engine of ours. */
  const byHand = async () => {
    await empty()
    const port = await findFreePort()
    const startMs = performance.now()
    const vllm = await startByHand(port, path.join(stack.artifacts, 'checkpoints', model.checkpointId))
    try {
      await vllm.waitForAnswer()
      return { ms: performance.now() - startMs }
    } finally {
      await vllm.stop()
    }
  }
  const measured = await takeTurns(rounds, { byHand, ours })
  return {
    cold_start_vs_by_hand: ratioOf(measured.ours, measured.byHand, 'ms'),
    ...medians(measured.ours, 'cold_start_'),
    ...medians(measured.byHand, 'cold_start_by_hand_'),
  }
}

async function time(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now()
  await work()
  return performance.now() - startMs
}
