import type { Pool } from '../pool.ts'

/** The seconds since a checkpoint's row was made, by the clock of Postgres. Undefined if it has none. */
export async function readCheckpointAge(pool: Pool, id: string): Promise<number | undefined> {
  const { rows } = await pool.query<{ seconds: number }>(
    'SELECT extract(epoch FROM clock_timestamp() - created_at)::float8 AS seconds FROM training.checkpoints WHERE id = $1',
    [id],
  )
  return rows[0]?.seconds
}
