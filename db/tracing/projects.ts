import type { Pool } from '../pool.ts'

/** The number of a project; 0, which no project has, when it is not there. */
export async function findTraceProject(pool: Pool, entity: string, name: string): Promise<number> {
  const { rows } = await pool.query<{ number: number }>(
    'SELECT number FROM tracing.projects WHERE entity = $1 AND name = $2 AND closed_at IS NULL',
    [entity, name],
  )
  return rows[0]?.number ?? 0
}

/** The number of a project, which begins with this when it is not there. */
export async function openTraceProject(pool: Pool, entity: string, name: string): Promise<number> {
  const found = await findTraceProject(pool, entity, name)
  if (found !== 0) return found
  await pool.query('INSERT INTO tracing.projects (entity, name) VALUES ($1, $2) ON CONFLICT DO NOTHING', [entity, name])
  return findTraceProject(pool, entity, name)
}
