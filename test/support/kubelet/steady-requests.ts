import { setTimeout as delay } from 'node:timers/promises'
import { openEventStream } from '../event-stream.ts'
import type { Rest, TrajectoryGroup } from '../rest.ts'

/** Clients that send one request after the other while something happens to the servers. No client tries again. */
export interface SteadyRequests {
  /** The answers of each kind of request. */
  counts: Record<string, number>
  failures: string[]
  /** Returns when all requests have their answers. */
  stop: () => Promise<void>
}

interface Target {
  url: string
  key: string
  rest: Rest
  baseModel: string
  /** The model whose jobs are posted. */
  modelId: string
  /** The job whose events are streamed. */
  jobId: string
}

/** Sends complete chats, streamed chats, event streams and jobs. */
export function startRequests(target: Target): SteadyRequests {
  const { rest, baseModel, modelId } = target
  const group: TrajectoryGroup = {
    trajectories: [1, 1].map((reward) => ({ messages_and_choices: [{ role: 'user', content: 'a' }], reward })),
  }
  const clients: Record<string, () => Promise<unknown>> = {
    chat: () => rest.sample(baseModel, 'Name a colour.', { max_completion_tokens: 4 }),
    stream: () => streamChat(target),
    events: () => readEvents(target),
    post: async () => {
      await rest.startJob(modelId, [group])
      await delay(2_000)
    },
  }
  const load: SteadyRequests = { counts: {}, failures: [], stop: async () => {} }
  let isOver = false
  const runs = Object.entries(clients).map(async ([kind, send]) => {
    load.counts[kind] = 0
    while (!isOver) {
      try {
        await send()
        load.counts[kind]++
      } catch (error) {
        load.failures.push(`${new Date().toISOString()} ${kind}: ${describe(error)}`)
        await delay(500)
      }
    }
  })
  load.stop = async () => {
    isOver = true
    await Promise.all(runs)
  }
  return load
}

async function streamChat({ rest, baseModel }: Target): Promise<void> {
  const messages = [{ role: 'user', content: 'Tell me a story.' }]
  const body = { model: baseModel, messages, stream: true, max_tokens: 64, ignore_eos: true }
  const response = await rest.send('POST', '/v1/chat/completions', body)
  const text = await response.text()
  if (!response.ok || !text.trimEnd().endsWith('data: [DONE]'))
    throw new Error(`${response.status} ${text.slice(-500)}`)
}

/** A server that shuts down ends a stream: the client opens it again. A refused one is a failure. */
async function readEvents({ url, key, jobId }: Target): Promise<void> {
  const headers = { authorization: `Bearer ${key}` }
  const stream = await openEventStream(`${url}/v1/preview/training-jobs/${jobId}/events`, headers)
  if (stream.status !== 200) throw new Error(`the events were answered with ${stream.status}`)
  await Promise.race([stream.ended, delay(10_000)])
  stream.close()
  await delay(500)
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause === undefined ? error.message : `${error.message}: ${describe(error.cause)}`
}
