import { setTimeout as delay } from 'node:timers/promises'
import { openEventStream } from '../support/event-stream.ts'
import type { Rest, TrajectoryGroup } from '../support/rest.ts'

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

/** Complete chats, streamed chats, event streams and jobs, one client of each. */
export function steadyClients(target: Target): Record<string, (() => Promise<unknown>)[]> {
  const { rest, baseModel, modelId } = target
  const group: TrajectoryGroup = {
    trajectories: [1, 1].map((reward) => ({ messages_and_choices: [{ role: 'user', content: 'a' }], reward })),
  }
  const post = async () => {
    await rest.startJob(modelId, [group])
    await delay(2_000)
  }
  return {
    chat: [() => rest.sample(baseModel, 'Name a colour.', { max_completion_tokens: 4 })],
    stream: [() => streamChat(target)],
    events: [() => readEvents(target)],
    post: [post],
  }
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
