import { randomUUID } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { createPersistentClient } from './client.ts'
import type { History } from './history.ts'

interface Deps {
  statusUrl: string
  token: string
  baseModel: string
  /** The folder of the artifact store. */
  artifacts: string
  history: History
}

const digest = 'ab'.repeat(32)
// Some attempts do not train to the end; the next one does.
const failsAt = 0.1
const releasesAt = 0.2

/** A trainer that computes nothing and reports as a real one does, until the signal aborts. It works on one job at a time. */
export async function pretendToTrain(deps: Deps, signal: AbortSignal): Promise<void> {
  const ask = createPersistentClient(deps.statusUrl, deps.token, deps.history)
  const processId = randomUUID()
  while (!signal.aborted) {
    const claim = { base_model: deps.baseModel, process_id: processId, wait_seconds: 1, gpus: 0, holding: [] }
    const { status, body } = await ask('POST', '/v1/claims', { body: claim })
    if (status === 200) await work(deps, ask, body)
  }
}

async function work({ history, artifacts }: Deps, ask: ReturnType<typeof createPersistentClient>, claim: object) {
  const {
    id: job,
    attempt,
    checkpoint_id: checkpoint,
    step,
  } = claim as {
    id: string
    attempt: number
    checkpoint_id: string
    step: number
  }
  const chance = attempt === 1 ? Math.random() : 1
  /** Whether the report was recorded. An attempt that no longer holds its job gets a 409. */
  const report = async (name: string, body: object) => {
    const { status } = await ask('POST', `/v1/jobs/${job}/attempts/${attempt}/${name}`, { body, accept: [404, 409] })
    return status === 200
  }
  const reportEvent = async (seq: number, type: string, data: object) => {
    if (!(await report('events', { events: [{ seq, type, data }] }))) return false
    history.events.push({ job, seq, type })
    return true
  }
  if (!(await reportEvent(0, 'training_started', { num_sequences: 2 }))) return
  await report('log', { lines: [{ seq: 0, time: new Date().toISOString(), level: 'info', text: 'one' }] })
  if (!(await reportEvent(1, 'gradient_step', { loss: 1 }))) return
  await report('heartbeat', {})
  if (chance < failsAt) {
    await report('failure', { category: 'Internal', reason: 'Told', message: 'told to', retryable: true })
    return
  }
  if (!(await report('progress', { uri: `artifact:///progress/${job}/${randomUUID()}`, digest, step: 1 }))) return
  if (chance < releasesAt) {
    await report('release', {})
    return
  }
  if (!(await reportEvent(2, 'gradient_step', { loss: 0.5 }))) return
  const folder = path.join(artifacts, 'checkpoints', checkpoint)
  await mkdir(folder, { recursive: true })
  await writeFile(path.join(folder, 'manifest.json'), '{}')
  const uri = `artifact:///checkpoints/${checkpoint}`
  if (await report('checkpoint', { uri, digest, metrics: { loss: 0.5 } }))
    history.checkpoints.push({ job, id: checkpoint, step })
  const statistics = { uri: null, digest: null, bytes: null, pushes: { '0/0': 0.5 } }
  await report('token-statistics', statistics)
  await report('dropped', {})
}
