import { randomUUID } from 'node:crypto'
import type { OwnApi } from './api-server.ts'
import { addBaseModel } from './fake-engine.ts'
import type { Rest } from './rest.ts'
import { TrainingRows } from './training-rows.ts'

export const jobsPath = '/v1/preview/training-jobs'

/** A job as the API shows it. */
export interface Job extends Record<string, unknown> {
  id: string
  state: string
  timeline: Record<string, string | null>
}

export interface Jobs {
  data: Job[]
  has_more: boolean
  last_id: string
}

/** Adds a new entity with a key, and a base model that trains only its models. */
export async function addTrainingEntity(
  { database: { pool }, join }: OwnApi,
  role?: string,
): Promise<{ rows: TrainingRows; api: Rest }> {
  const rows = new TrainingRows(pool, `team-${randomUUID()}`)
  await addBaseModel({ pool, baseModel: rows.baseModel, namespace: 'trainyard' })
  return { rows, api: await join(rows.entity, role) }
}
