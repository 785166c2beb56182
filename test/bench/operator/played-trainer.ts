import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { request } from 'undici'

/** A pod's access to the status server. */
export interface TrainerAccess {
  url: string
  token: string
  baseModel: string
}

/** What the trainers of a benchmark do, and may do now. */
export interface Play {
  /** How many more jobs are held, which are not trained before they are released. */
  toHold: number
  isReleased: boolean
  isTraining: boolean
}

interface Claimed {
  id: string
  attempt: number
  checkpoint_id: string
}

const maxJobs = 5
const claimSeconds = 20
const heartbeatMs = 1_000
const pauseMs = 20
const digest = 'ab'.repeat(32)

/** Speaks the protocol of trainers for one pod, and computes nothing. It takes several jobs at a time. */
export class PlayedTrainer {
  readonly #access: TrainerAccess
  readonly #play: Play
  readonly #process = randomUUID()
  readonly #holding = new Set<string>()

  constructor(access: TrainerAccess, play: Play) {
    this.#access = access
    this.#play = play
  }

  async run(): Promise<never> {
    for (;;) {
      const isWanted = this.#play.isTraining || this.#play.toHold > 0
      if (!isWanted || this.#holding.size >= maxJobs) {
        await delay(pauseMs)
        continue
      }
      const claimed = await this.#claim()
      if (claimed) void this.#work(claimed)
      else await delay(pauseMs)
    }
  }

  async #claim(): Promise<Claimed | undefined> {
    const { baseModel } = this.#access
    const body = { base_model: baseModel, process_id: this.#process, gpus: 1, holding: [...this.#holding] }
    return this.#post<Claimed>('/v1/claims', { ...body, wait_seconds: this.#play.isTraining ? claimSeconds : 0 })
  }

  async #work(job: Claimed): Promise<void> {
    this.#holding.add(job.id)
    const attempt = `/v1/jobs/${job.id}/attempts/${job.attempt}`
    if (this.#play.toHold > 0 || !this.#play.isTraining) await this.#hold(attempt)
    const start = { seq: 0, type: 'training_started', data: { num_sequences: 1 } }
    await this.#post(`${attempt}/events`, { events: [start] })
    await this.#post(`${attempt}/events`, { events: [{ seq: 1, type: 'gradient_step', data: { loss: 1 } }] })
    const uri = `artifact:///checkpoints/${job.checkpoint_id}`
    await this.#post(`${attempt}/checkpoint`, { uri, digest, metrics: { loss: 1 } })
    this.#holding.delete(job.id)
  }

  async #hold(attempt: string): Promise<void> {
    this.#play.toHold--
    while (!this.#play.isReleased) {
      await this.#post(`${attempt}/heartbeat`, {})
      await delay(heartbeatMs)
    }
  }

  async #post<T>(path: string, body: object): Promise<T | undefined> {
    const { url, token } = this.#access
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const response = await request(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    if (response.statusCode === 204) return response.body.dump() as Promise<undefined>
    const text = await response.body.text()
    if (response.statusCode !== 200) throw new Error(`${path}: ${response.statusCode} ${text}`)
    return JSON.parse(text) as T
  }
}
