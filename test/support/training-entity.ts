import { randomUUID } from 'node:crypto'
import type { OwnApi } from './api-server.ts'
import { addBaseModel } from './fake-engine.ts'
import type { Rest } from './rest.ts'
import { TrainingRows } from './training-rows.ts'

/** Adds a new entity with a key, and a base model that trains only its models. */
export async function addTrainingEntity(
  { database: { pool }, join }: OwnApi,
  role?: string,
): Promise<{ rows: TrainingRows; api: Rest }> {
  const rows = new TrainingRows(pool, `team-${randomUUID()}`)
  await addBaseModel({ pool, baseModel: rows.baseModel, namespace: 'trainyard' })
  return { rows, api: await join(rows.entity, role) }
}
