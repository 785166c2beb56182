// The process that plays the trainers of a benchmark: it speaks the protocol of trainers for each pod, and computes nothing.
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { postJson } from '../../support/post.ts'

/** A pod's access to the status server. */
export interface TrainerAccess {
  url: string
  token: string
  baseModel: string
}

/** What the trainers do, and may do now. */
export interface Play {
  /** How many more jobs are held, which are not trained before they are released. */
  toHold: number
  isReleased: boolean
  isTraining: boolean
}

/** Where the trainers of all pods work, or what they do from now on. */
export type TrainersMessage = { access: TrainerAccess[] } | { change: Partial<Play> }

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
const play: Play = { toHold: 0, isReleased: false, isTraining: false }

process.on('message', (message: TrainersMessage) => {
  if ('change' in message) Object.assign(play, message.change)
  else for (const access of message.access) void train(access)
})

/** Claims jobs for one pod, several at a time. */
async function train(access: TrainerAccess): Promise<never> {
  const process_id = randomUUID()
  const holding = new Set<string>()
  for (;;) {
    const isWanted = play.isTraining || play.toHold > 0
    const wait_seconds = play.isTraining ? claimSeconds : 0
    const body = { base_model: access.baseModel, process_id, gpus: 1, holding: [...holding], wait_seconds }
    const job = isWanted && holding.size < maxJobs ? await report<Claimed>(access, '/v1/claims', body) : undefined
    if (!job) {
      await delay(pauseMs)
      continue
    }
    holding.add(job.id)
    void work(access, job).then(() => holding.delete(job.id))
  }
}

async function work(access: TrainerAccess, job: Claimed): Promise<void> {
  const attempt = `/v1/jobs/${job.id}/attempts/${job.attempt}`
  if (play.toHold > 0 || !play.isTraining) await hold(access, attempt)
  const start = { seq: 0, type: 'training_started', data: { num_sequences: 1 } }
  await report(access, `${attempt}/events`, { events: [start] })
  await report(access, `${attempt}/events`, { events: [{ seq: 1, type: 'gradient_step', data: { loss: 1 } }] })
  const uri = `artifact:///checkpoints/${job.checkpoint_id}`
  await report(access, `${attempt}/checkpoint`, { uri, digest, metrics: { loss: 1 } })
}

async function hold(access: TrainerAccess, attempt: string): Promise<void> {
  play.toHold--
  while (!play.isReleased) {
    await report(access, `${attempt}/heartbeat`, {})
    await delay(heartbeatMs)
  }
}

async function report<T>({ url, token }: TrainerAccess, path: string, body: object): Promise<T | undefined> {
  const { status, body: answer } = await postJson(url + path, token, body)
  if (status >= 300) throw new Error(`${path}: ${status} ${JSON.stringify(answer)}`)
  return answer as T | undefined
}
