import { randomUUID } from 'node:crypto'
import { beforeAll } from 'vitest'
import { cancelJob } from '../../db/jobs/endings.ts'
import { recordEvents, type ReportedEvent } from '../../db/jobs/reports.ts'
import { addKey, useApiServer } from './api-server.ts'
import { openEventStream } from './event-stream.ts'
import { createRest, type Rest } from './rest.ts'
import type { Stack } from './stack.ts'
import { TrainingRows } from './training-rows.ts'

/** Jobs of one entity on an apiserver of a test file's own, and ways to follow their events; `api` and `key` only read. */
export function useFollowedJobs(stack: Stack) {
  const own = useApiServer(stack)
  const entity = `team-${randomUUID()}`
  const access = {} as { key: string; api: Rest }
  beforeAll(async () => {
    access.key = await addKey(own.database.pool, entity, 'read')
    access.api = createRest({ ...stack, url: own.server.url }, access.key)
  })
  // A base model for each job: it is always the one that is claimed.
  const makeRows = () => new TrainingRows(own.database.pool, entity)

  /** A Queued job. */
  const addJob = async () => {
    const rows = makeRows()
    const id = await rows.addJob(await rows.addModel())
    return { id, rows }
  }

  /** A job that a trainer holds, whose events are reported by `report`. */
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

/** Path of a job's events. */
export function eventsOf(jobId: string): string {
  return `/v1/preview/training-jobs/${jobId}/events`
}
