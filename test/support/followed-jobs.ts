import { randomUUID } from 'node:crypto'
import { beforeAll } from 'vitest'
import { cancelJob } from '../../db/jobs/endings.ts'
import { recordEvents, type ReportedEvent } from '../../db/jobs/reports.ts'
import { addKey, type OwnApi } from './api-server.ts'
import { openEventStream } from './event-stream.ts'
import { createRest, type Rest } from './rest.ts'
import type { ApiStack } from './services.ts'
import { TrainingRows } from './training-rows.ts'

/**
 * Creates jobs of one entity on `own`, and follows their events. `api` and `key` are read-only.
 */
export function useFollowedJobs<Own extends OwnApi>(stack: ApiStack, own: Own) {
  const entity = `team-${randomUUID()}`
  const access = {} as { key: string; api: Rest }
  beforeAll(async () => {
    access.key = await addKey(own.database.pool, entity, 'read')
    access.api = createRest({ ...stack, url: own.server.url }, access.key)
  })
  // Each job has its own base model, so that a claim returns this job.
  const makeRows = () => new TrainingRows(own.database.pool, entity)

  /** Adds a Queued job. */
  const addJob = async () => {
    const rows = makeRows()
    const id = await rows.addJob(await rows.addModel())
    return { id, rows }
  }

  /** Adds a job that a trainer holds. `report` reports its events. */
  const startJob = async () => {
    const { id, rows } = await addJob()
    const { attempt } = await rows.claim()
    const report = (...events: ReportedEvent[]) => recordEvents(own.database.pool, attempt, events)
    return { id, report, cancel: () => cancelJob(own.database.pool, id) }
  }

  const follow = (id: string, query = '', headers: Record<string, string> = {}) => {
    const url = own.server.url + eventsOf(id) + query
    return openEventStream(url, { authorization: `Bearer ${access.key}`, ...headers })
  }
  return { own, access, addJob, startJob, follow }
}

/** The path of a job's events. */
export function eventsOf(jobId: string): string {
  return `/v1/preview/training-jobs/${jobId}/events`
}
