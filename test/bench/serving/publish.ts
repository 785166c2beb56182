import { sampleGroup, type Rest } from '../../support/rest.ts'
import type { BenchEngine } from './engines.ts'

const waitSeconds = 60
const alternating = (_: string, index: number) => index % 2

/** A model with its newest checkpoint. */
export interface TrainedModel {
  address: string
  checkpointId: string
}

/** The milliseconds from a `training_ended` to the answer of the slowest engine. */
export interface Publication {
  model: TrainedModel
  /** Until each engine has answered for the new step. The client looks up the step's id in that time. */
  servedMs: number
  /** What the same requests take a moment later. Publishing cannot be faster. */
  againMs: number
}

/** Trains a model one step, and asks each engine for it at once, and once more. */
export async function measurePublication(rest: Rest, engines: readonly BenchEngine[]): Promise<Publication> {
  const { id, address } = await rest.createModel()
  const group = await sampleGroup(rest, address, 'Tell me about the sea.', alternating)
  const jobId = await rest.startJob(id, [group])
  await waitForEnd(rest, jobId)
  const ask = async () => {
    const startMs = performance.now()
    const checkpointId = (await rest.listCheckpoints(id)).toSorted((a, b) => b.step - a.step)[0]!.id
    await Promise.all(engines.map((engine) => engine.ask(checkpointId)))
    return { checkpointId, timeMs: performance.now() - startMs }
  }
  const { checkpointId, timeMs: servedMs } = await ask()
  const { timeMs: againMs } = await ask()
  return { model: { address, checkpointId }, servedMs, againMs }
}

interface EventPage {
  data: { id: string; type: string }[]
}

/** Waits for each next event, so that the last one arrives at once. */
async function waitForEnd(rest: Rest, jobId: string): Promise<void> {
  for (let after = ''; ;) {
    const path = `/v1/preview/training-jobs/${jobId}/events?wait=${waitSeconds}${after && `&after=${after}`}`
    const { data } = await rest.call<EventPage>('GET', path)
    if (data.some(({ type }) => type === 'training_ended')) return
    if (data.some(({ type }) => type === 'training_failed')) throw new Error('a training job of the benchmark failed')
    after = data.at(-1)?.id ?? after
  }
}
