import OpenAI from 'openai'
import { setTimeout as delay } from 'node:timers/promises'
import { openEventStream } from './event-stream.ts'
import type { createRest, TrainingEvent, TrajectoryGroup } from './rest.ts'

/** Kinds of requests that clients send without a pause while something happens to the servers. */
export interface RequestLoad {
  /** The requests that succeeded, by kind. */
  counts: Record<string, number>
  /** Each request that failed, with the time. No client tries again. */
  failures: string[]
  /** Ends all clients after their current request. */
  stop: () => Promise<void>
}

interface Target {
  url: string
  key: string
  rest: ReturnType<typeof createRest>
  /** The name for chats. */
  model: string
}

type Client = () => Promise<unknown>

/** Begins to send requests: each client sends its next one when it has the answer to the last. */
export function startRequests(clients: Record<string, Client[]>): RequestLoad {
  const load: RequestLoad = { counts: {}, failures: [], stop: async () => {} }
  const stopping = new AbortController()
  const runs = Object.entries(clients).flatMap(([kind, sends]) => sends.map((send) => repeat(load, kind, send)))
  async function repeat({ counts, failures }: RequestLoad, kind: string, send: Client): Promise<void> {
    counts[kind] = 0
    while (!stopping.signal.aborted) {
      try {
        await send()
        counts[kind]++
      } catch (error) {
        failures.push(`${new Date().toISOString()} ${kind}: ${describe(error)}`)
        await delay(500)
      }
    }
  }
  load.stop = async () => {
    stopping.abort()
    await Promise.all(runs)
  }
  return load
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause === undefined ? error.message : `${error.message}: ${describe(error.cause)}`
}

const times = (count: number, client: Client) => Array.from({ length: count }, () => client)

/** Chats of the OpenAI SDK and of plain HTTP clients, complete ones and streams of one second and of twenty. */
export function chatClients({ url, key, rest, model }: Target): Record<string, Client[]> {
  const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 })
  const messages = [{ role: 'user' as const, content: 'Say some words.' }]
  const ask = (words: number) => ({ model, messages, max_completion_tokens: words })
  const chat = async () => {
    const { choices } = await openai.chat.completions.create(ask(1))
    expectWords(choices[0]?.message.content, 1)
  }
  const stream = (words: number) => async () => {
    let content = ''
    let finish: string | null = null
    for await (const { choices } of await openai.chat.completions.create({ ...ask(words), stream: true })) {
      content += choices[0]?.delta.content ?? ''
      finish = choices[0]?.finish_reason ?? finish
    }
    expectWords(content, words)
    if (finish !== 'stop') throw new Error(`the stream ended with ${finish}`)
  }
  const plain = async () => {
    const { choices } = await rest.call<OpenAI.ChatCompletion>('POST', '/v1/chat/completions', ask(2))
    expectWords(choices[0]?.message.content, 2)
  }
  return {
    chat: times(4, chat),
    plain: times(2, plain),
    stream: times(4, stream(20)),
    longStream: times(4, stream(400)),
  }
}

function expectWords(content: string | null | undefined, count: number): void {
  if (content !== 'word '.repeat(count)) throw new Error(`${content?.length ?? 0} of ${5 * count} characters arrived`)
}

/** Posts jobs, and adds their ids to `posted`. */
export function jobClient({ rest }: Target, { modelId, posted }: { modelId: string; posted: string[] }): Client {
  const group: TrajectoryGroup = {
    trajectories: [0, 1].map((reward) => ({ messages_and_choices: [{ role: 'user', content: 'a' }], reward })),
  }
  return async () => {
    posted.push(await rest.startJob(modelId, [group]))
    await delay(250)
  }
}

/** Follows the events of a job to its end. A stream that ends before is opened again, after the last event. */
export async function followToEnd({ url, key }: Target, jobId: string): Promise<TrainingEvent[]> {
  const all: TrainingEvent[] = []
  for (;;) {
    const last = all.at(-1)
    if (last && /^training_(ended|failed)$/.test(last.type)) return all
    const headers = { authorization: `Bearer ${key}`, ...(last && { 'last-event-id': last.id }) }
    const stream = await openEventStream(`${url}/v1/preview/training-jobs/${jobId}/events`, headers)
    if (stream.status !== 200) throw new Error(`the events were answered with ${stream.status}`)
    await stream.ended
    all.push(...stream.events)
  }
}
