import { withTransaction, type Pool } from '../pool.ts'

// One statement must end well within its time limit.
const rowsAtOnce = 10_000

/** Deletes a run: nothing of it is listed or written any more. Returns whether the entity had it. */
export async function deleteRun(pool: Pool, { entity, id }: { entity: string; id: string }): Promise<boolean> {
  const { rowCount } = await pool.query(
    'UPDATE training.runs SET deleted_at = now() WHERE entity = $1 AND id = $2 AND deleted_at IS NULL',
    [entity, id],
  )
  return rowCount === 1
}

/** Deletes all runs of a project. Returns their number. */
export async function deleteProjectRuns(pool: Pool, entity: string, project: string): Promise<number> {
  const { rowCount } = await pool.query(
    'UPDATE training.runs SET deleted_at = now() WHERE entity = $1 AND project = $2 AND deleted_at IS NULL',
    [entity, project],
  )
  return rowCount ?? 0
}

/**
 * Removes the rows of deleted runs, in portions. The bytes of their files are garbage then. Leaves out runs of a running
 * erasure: the erasure removes and counts them.
 */
export async function removeDeletedRuns(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ number: number }>(
    `SELECT r.number FROM training.runs r WHERE r.deleted_at IS NOT NULL
       AND NOT EXISTS (
         SELECT FROM training.erasures e WHERE e.finished_at IS NULL AND e.entity = r.entity
           AND (e.project IS NULL OR e.project = r.project) AND e.requested_at >= r.created_at)
     ORDER BY r.deleted_at LIMIT 100`,
  )
  for (const { number } of rows) await removeRun(pool, number)
}

async function removeRun(pool: Pool, number: number): Promise<void> {
  for (let removed = rowsAtOnce; removed === rowsAtOnce;) {
    const { rowCount } = await pool.query(
      `DELETE FROM training.run_lines WHERE ctid IN
         (SELECT ctid FROM training.run_lines WHERE run = $1 LIMIT ${rowsAtOnce})`,
      [number],
    )
    removed = rowCount ?? 0
  }
  await withTransaction(pool, async (connection) => {
    for (const table of ['run_lines', 'run_key_sets', 'run_files'])
      await connection.query(`DELETE FROM training.${table} WHERE run = $1`, [number])
    await connection.query('DELETE FROM training.runs WHERE number = $1', [number])
  })
}
