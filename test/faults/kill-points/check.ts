import { existsSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'vitest'
import type { TrainingJob } from '../../../crds/generated.ts'
import { isTerminal, type JobState } from '../../../crds/job-states.ts'
import { labels } from '../../../crds/names.ts'
import { customPath } from '../../../crds/paths.ts'
import { eventually } from '../../support/eventually.ts'
import type { FragileWorld } from './world.ts'

interface Job {
  id: string
  model: string
  project: string
  state: JobState
  deleted: boolean
  /** Its model was deleted nearly ten minutes ago. Then only tombstones are left. An earlier round has checked it. */
  cleared: boolean
  ends: number
  events: { seq: number; type: string }[]
  checkpoints: { id: string; step: number; deleted: boolean }[]
}

const readJobs = async ({ pool, entity }: FragileWorld): Promise<Job[]> => {
  const { rows } = await pool.query<Job>(
    `SELECT j.id, j.model_id AS model, j.project, j.state, m.deleted_at IS NOT NULL AS deleted,
       coalesce(m.deleted_at < now() - interval '9 minutes', false) AS cleared,
       (SELECT count(*) FROM training.outbox o WHERE o.subject_id = j.id
          AND o.kind IN ('training_job.succeeded', 'training_job.failed', 'training_job.cancelled')) AS ends,
       (SELECT coalesce(json_agg(json_build_object('seq', seq, 'type', type) ORDER BY seq), '[]')
        FROM training.events e WHERE e.job_id = j.id) AS events,
       (SELECT coalesce(json_agg(json_build_object('id', c.id, 'step', c.step, 'deleted', c.deleted_at IS NOT NULL)), '[]')
        FROM training.checkpoints c WHERE c.job_id = j.id) AS checkpoints
     FROM training.jobs j JOIN training.models m ON m.id = j.model_id WHERE j.entity = $1`,
    [entity],
  )
  return rows
}

const settleMs = 120_000

/**
 * Waits until nothing is under way, and compares what is there with what clients and trainers were told. No job, event or
 * checkpoint that was acknowledged is lost, none is there twice, and every job ended once.
 */
export async function checkHistory(world: FragileWorld): Promise<void> {
  const jobs = await eventually(async () => {
    const found = await readJobs(world)
    expect(found.filter(({ state }) => !isTerminal(state))).toEqual([])
    return found
  }, settleMs)
  expect(world.history.wrongAnswers).toEqual([])
  checkJobs(world, jobs)
  checkReports(world, jobs)
  checkSteps(jobs)
  await checkRest(world, jobs)
  await eventually(() => checkResources(world, jobs), settleMs)
  await eventually(() => checkDeliveries(world, jobs), settleMs)
  await eventually(() => checkFiles(world, jobs), settleMs)
}

const isErased = ({ history }: FragileWorld, project: string) => history.erasedProjects.includes(project)

function checkJobs(world: FragileWorld, jobs: Job[]): void {
  const reported = world.history.jobs.filter(({ project }) => !isErased(world, project)).map(({ id }) => id)
  expect(jobs.map(({ id }) => id).toSorted()).toEqual(reported.toSorted())
  for (const { id, events, ends, state } of jobs.filter(({ cleared }) => !cleared)) {
    const last = events.filter(({ type }) => type === 'training_ended' || type === 'training_failed')
    expect([id, ends, last, state !== 'Failed']).toEqual([id, 1, [events.at(-1)], true])
    expect([id, new Set(events.map(({ seq }) => seq)).size]).toEqual([id, events.length])
  }
}

function checkReports({ history }: FragileWorld, jobs: Job[]): void {
  const byId = new Map(jobs.filter(({ cleared }) => !cleared).map((job) => [job.id, job]))
  for (const { job, seq, type } of history.events) {
    const events = byId.get(job)?.events
    if (events) expect([job, events.filter((event) => event.seq === seq)]).toEqual([job, [{ seq, type }]])
  }
  for (const { job, id, step } of history.checkpoints) {
    const found = byId.get(job)
    if (found) expect([job, found.checkpoints]).toEqual([job, [expect.objectContaining({ id, step })]])
  }
}

/**
 * A job that succeeded has one checkpoint, and the others have none: one whose model was deleted while it was published is
 * Cancelled. Each step of a model is there once.
 */
function checkSteps(jobs: Job[]): void {
  for (const { id, state, checkpoints } of jobs.filter(({ deleted }) => !deleted))
    expect([id, state, checkpoints.length]).toEqual([id, state, state === 'Succeeded' ? 1 : 0])
  const steps = jobs.flatMap(({ model, checkpoints }) => checkpoints.map(({ step }) => `${model} ${step}`))
  expect(new Set(steps).size).toBe(steps.length)
}

async function checkRest({ ask }: FragileWorld, jobs: Job[]): Promise<void> {
  for (const { id, deleted, state, events } of jobs) {
    const { status, body } = await ask('GET', `/v1/preview/training-jobs/${id}`, { accept: [404] })
    if (!deleted) expect([id, status, body['state']]).toEqual([id, 200, state])
    if (status !== 200) continue
    const list = await ask('GET', `/v1/preview/training-jobs/${id}/events`)
    const types = (list.body['data'] as { type: string }[]).map(({ type }) => type)
    // Its ten minutes may end while this is asked.
    if (deleted && types.length === 0) continue
    expect([id, types]).toEqual([id, events.map(({ type }) => type)])
  }
}

/** Each job has one resource, with its state, unless its model or its resource was deleted. */
async function checkResources({ kube, namespace, history }: FragileWorld, jobs: Job[]): Promise<void> {
  const { items } = await kube.request<{ items: TrainingJob[] }>({ path: customPath('TrainingJob', namespace) })
  const seen = items.map(({ metadata, status }) => `${metadata.labels?.[labels.id]} ${status?.phase}`).toSorted()
  const kept = jobs.filter(({ id, deleted }) => !deleted && !history.deletedResources.includes(id))
  const wanted = kept.filter(({ state }) => state !== 'Cancelled')
  const cancelled = new Set(jobs.filter(({ state }) => state === 'Cancelled').map(({ id }) => `${id} Cancelled`))
  expect(seen.filter((each) => !cancelled.has(each))).toEqual(
    wanted.map(({ id, state }) => `${id} ${state}`).toSorted(),
  )
  expect(new Set(seen).size).toBe(seen.length)
}

/** The end of each job is told at least once, and always as the same event. */
function checkDeliveries({ receiver }: FragileWorld, jobs: Job[]): void {
  const reported = new Map<string, Set<string>>()
  for (const { body } of receiver.received) {
    const { id, data } = JSON.parse(body) as { id: string; data: { training_job: { id: string } } }
    const ids = reported.get(data.training_job.id) ?? new Set()
    reported.set(data.training_job.id, ids.add(id))
  }
  for (const { id } of jobs) expect([id, reported.get(id)?.size]).toEqual([id, 1])
}

/** Of what was deleted, no file is left, and of the rest all are. */
function checkFiles({ artifacts }: FragileWorld, jobs: Job[]): void {
  for (const { deleted, checkpoints } of jobs)
    for (const each of checkpoints) {
      const file = path.join(artifacts, 'checkpoints', each.id, 'manifest.json')
      expect([each.id, existsSync(file)]).toEqual([each.id, !deleted && !each.deleted])
    }
}
