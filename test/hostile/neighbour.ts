import { setTimeout as delay } from 'node:timers/promises'
import { newId } from '../../apiserver/tracing/ids.ts'
import { percentile } from '../bench/statistics.ts'
import { createRest } from '../support/rest.ts'
import { createTraceClient } from '../support/trace-client.ts'

const project = 'neighbours'
const pauseMs = { health: 10, chat: 10, trace: 20, job: 100 }

export type Question = keyof typeof pauseMs

/** The latencies of its requests during some work, and the failures. */
export interface Answers {
  latenciesMs: Record<Question, number[]>
  failures: string[]
}

/** A client of another entity that works all the time. */
export class Neighbour {
  readonly #rest: ReturnType<typeof createRest>
  readonly #traces: ReturnType<typeof createTraceClient>
  readonly #chatModel: string
  readonly #entity: string
  readonly #jobs: string[] = []
  readonly #calls: string[] = []
  #modelId = ''

  constructor({ url, key, entity, chatModel }: { url: string; key: string; entity: string; chatModel: string }) {
    this.#rest = createRest({ url, apiKey: key, baseModel: chatModel })
    this.#traces = createTraceClient(`${url}/traces`, key)
    this.#chatModel = chatModel
    this.#entity = entity
  }

  async moveIn(): Promise<void> {
    this.#modelId = (await this.#rest.createModel()).id
  }

  /** Sends all requests in a loop while `work` runs. */
  async beside(work: () => Promise<void>): Promise<Answers> {
    const answers: Answers = { latenciesMs: { health: [], chat: [], trace: [], job: [] }, failures: [] }
    const stop = new AbortController()
    const questions: Record<Question, () => Promise<unknown>> = {
      health: () => this.#rest.call('GET', '/v1/health'),
      chat: () => this.#rest.sample(this.#chatModel, 'Hello.'),
      trace: () => this.#writeCall(),
      job: () => this.#startJob(),
    }
    const asking = Object.entries(questions).map(async ([name, ask]) => {
      while (!stop.signal.aborted) await this.#time(answers, name as Question, ask)
    })
    try {
      await work()
    } finally {
      stop.abort()
      await Promise.all(asking)
    }
    return answers
  }

  async #time(answers: Answers, question: Question, ask: () => Promise<unknown>): Promise<void> {
    const startMs = performance.now()
    try {
      await ask()
    } catch (error) {
      answers.failures.push(`${question}: ${String(error)}`)
      await delay(1_000)
    }
    answers.latenciesMs[question].push(performance.now() - startMs)
    await delay(pauseMs[question])
  }

  async #startJob(): Promise<void> {
    const trajectories = [0, 1].map((reward) => ({ messages_and_choices: [{ role: 'user', content: 'a' }], reward }))
    this.#jobs.push(await this.#rest.startJob(this.#modelId, [{ trajectories }]))
  }

  async #writeCall(): Promise<void> {
    const id = newId()
    const times = { started_at: '2026-11-21T10:00:00Z', ended_at: '2026-11-21T10:00:01Z' }
    const project_id = `${this.#entity}/${project}`
    const call = {
      project_id,
      id,
      trace_id: newId(),
      op_name: 'op',
      attributes: {},
      inputs: {},
      output: 1,
      summary: {},
      ...times,
    }
    await this.#traces.call(`/v2/${project_id}/calls/complete`, { batch: [call] })
    this.#calls.push(id)
  }

  /** The acknowledged jobs and calls that are missing. */
  async findLost(): Promise<string[]> {
    const lost: string[] = []
    for (const id of this.#jobs) {
      if (!(await this.#rest.send('GET', `/v1/preview/training-jobs/${id}`)).ok) lost.push(`job ${id}`)
    }
    const body = { project_id: `${this.#entity}/${project}`, columns: ['id'] }
    const { calls } = await this.#traces.call<{ calls: { id: string }[] }>('/calls/query', body)
    const there = new Set(calls.map(({ id }) => id))
    return [...lost, ...this.#calls.filter((id) => !there.has(id)).map((id) => `call ${id}`)]
  }
}

/** The 99th percentile of each request, in milliseconds. */
export function summarize({ latenciesMs }: Answers): Record<Question, number> {
  const p99 = (question: Question) => Math.round(percentile(latenciesMs[question], 0.99))
  return { health: p99('health'), chat: p99('chat'), trace: p99('trace'), job: p99('job') }
}
