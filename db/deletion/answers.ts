import type { Connection, Pool } from '../pool.ts'

// As long as clients are expected to ask again for an answer that they lost.
const rememberedMinutes = 10

/** Records what a client is answered to a deletion; `target` says what was deleted. */
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

/** The answer to the newest deletion of the target within ten minutes; undefined when there was none. */
export async function findDeletionAnswer<T>(pool: Pool, entity: string, target: string): Promise<T | undefined> {
  const { rows } = await pool.query<{ answer: T }>(
    `SELECT answer FROM training.deletions
     WHERE entity = $1 AND target = $2 AND created_at > now() - make_interval(mins => ${rememberedMinutes})
     ORDER BY created_at DESC LIMIT 1`,
    [entity, target],
  )
  return rows[0]?.answer
}

/** Deletes answers that nobody can ask for any more. */
export async function removeOldDeletionAnswers(pool: Pool): Promise<void> {
  await pool.query(
    `DELETE FROM training.deletions WHERE created_at < now() - make_interval(mins => ${rememberedMinutes})`,
  )
}
