// Pauses the waiting jobs of an entity, or of all, for maintenance.

import { recordAct } from './audit-log.ts'
import { withTransaction, type Connection, type Pool } from '../pool.ts'
import { everyEntity, type QueueBlock } from '../jobs/queue-blocks.ts'

/** Whose jobs are paused, and by whom: the administrator of the installation, or an admin of the entity. */
export interface PauseKey {
  entity: string
  byAdministrator: boolean
}

export interface Pause extends PauseKey {
  pausedAt: Date
}

/** Pauses jobs, or resumes them. Returns false if that was done before. */
export async function setPaused(
  pool: Pool,
  { entity, byAdministrator, actor }: PauseKey & { actor: string },
  isPaused: boolean,
): Promise<boolean> {
  return withTransaction(pool, async (connection) => {
    const { rowCount } = await connection.query(
      isPaused
        ? 'INSERT INTO training.queue_pauses (entity, by_administrator) VALUES ($1, $2) ON CONFLICT DO NOTHING'
        : 'DELETE FROM training.queue_pauses WHERE entity = $1 AND by_administrator = $2',
      [entity, byAdministrator],
    )
    if (rowCount === 0) return false
    // Trainers that wait ask again.
    if (!isPaused) await connection.query(`SELECT pg_notify('training_queue', '')`)
    const action = isPaused ? 'jobs.paused' : 'jobs.resumed'
    await recordAct(connection, { entity, actor, action, subject: null })
    return true
  })
}

/** Lists all pauses, those of all entities first. */
export async function listPauses(pool: Pool): Promise<Pause[]> {
  const { rows } = await pool.query<Pause>(
    `SELECT entity, by_administrator AS "byAdministrator", paused_at AS "pausedAt" FROM training.queue_pauses
     ORDER BY entity <> '${everyEntity}', entity COLLATE "C", by_administrator`,
  )
  return rows
}

/** Whether the jobs of an entity are paused by one of its admins, and whether they are by the administrator. */
export async function findPauses(
  connection: Connection,
  entity: string,
): Promise<{ byEntity: boolean; byAdministrator: boolean }> {
  const { rows } = await connection.query<{ byEntity: boolean; byAdministrator: boolean }>(
    `SELECT coalesce(bool_or(NOT by_administrator), false) AS "byEntity",
       coalesce(bool_or(by_administrator), false) AS "byAdministrator"
     FROM training.queue_pauses WHERE entity IN ($1, '${everyEntity}')`,
    [entity],
  )
  return rows[0]!
}

/** How many pauses are in force, by what a job says that waits because of one. */
export async function countPauses(connection: Connection): Promise<Record<Exclude<QueueBlock, 'gpu_seconds'>, number>> {
  const { rows } = await connection.query<{ all: number; administrator: number; entity: number }>(
    `SELECT count(*) FILTER (WHERE entity = '${everyEntity}') AS all,
       count(*) FILTER (WHERE entity <> '${everyEntity}' AND by_administrator) AS administrator,
       count(*) FILTER (WHERE NOT by_administrator) AS entity
     FROM training.queue_pauses`,
  )
  return rows[0]!
}
