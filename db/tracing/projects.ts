import type { Pool } from '../pool.ts'

// Another process may create the project first, and an erasure may close it before we look again. That hardly happens
// twice.
const maxTries = 10

/** The number of a project; 0 if it does not exist. */
export async function findTraceProject(pool: Pool, entity: string, name: string): Promise<number> {
  const { rows } = await pool.query<{ number: number }>(
    'SELECT number FROM tracing.projects WHERE entity = $1 AND name = $2 AND closed_at IS NULL',
    [entity, name],
  )
  return rows[0]?.number ?? 0
}

/** The number of a project. Creates the project if it does not exist. */
export async function openTraceProject(pool: Pool, entity: string, name: string): Promise<number> {
  for (let tries = 0; tries < maxTries; tries++) {
    const found = await findTraceProject(pool, entity, name)
    if (found !== 0) return found
    const { rows } = await pool.query<{ number: number }>(
      'INSERT INTO tracing.projects (entity, name) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING number',
      [entity, name],
    )
    if (rows[0]) return rows[0].number
  }
  throw new Error('a project of traces is closed as often as it is opened')
}

/** The names of so many projects of an entity that have traces. */
export async function nameTraceProjects(pool: Pool, entity: string, most: number): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    'SELECT name FROM tracing.projects WHERE entity = $1 AND closed_at IS NULL LIMIT $2',
    [entity, most],
  )
  return rows.map(({ name }) => name)
}

/** Lists the projects of an entity that have traces, by name, after the name `after`. */
export async function listTraceProjects(
  pool: Pool,
  entity: string,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<{ name: string; createdAt: string }[]> {
  const { rows } = await pool.query<{ name: string; createdAt: string }>(
    `SELECT name, created_at AS "createdAt" FROM tracing.projects
     WHERE entity = $1 AND closed_at IS NULL AND ($2::text IS NULL OR name > $2) ORDER BY name LIMIT $3`,
    [entity, after ?? null, limit],
  )
  return rows
}
