import type { Connection, Pool } from '../pool.ts'

// Clients that lost an answer are expected to repeat the request within this time.
const rememberedMinutes = 10

/** Records the answer to a deletion. `target` names what was deleted. */
export async function recordDeletion(
  connection: Connection,
  entity: string,
  target: string,
  answer: object,
): Promise<void> {
  await connection.query('INSERT INTO training.deletions (entity, target, answer) VALUES ($1, $2, $3)', [
    entity,
    target,
    JSON.stringify(answer),
  ])
}

/** The answer to the newest deletion of the target within ten minutes. */
export async function findDeletionAnswer<T>(
  connection: Connection,
  entity: string,
  target: string,
): Promise<T | undefined> {
  const { rows } = await connection.query<{ answer: T }>(
    `SELECT answer FROM training.deletions
     WHERE entity = $1 AND target = $2 AND created_at > now() - make_interval(mins => ${rememberedMinutes})
     ORDER BY created_at DESC LIMIT 1`,
    [entity, target],
  )
  return rows[0]?.answer
}

/** Deletes answers that are too old to be asked for. */
export async function removeOldDeletionAnswers(pool: Pool): Promise<void> {
  await pool.query(
    `DELETE FROM training.deletions WHERE created_at < now() - make_interval(mins => ${rememberedMinutes})`,
  )
}
