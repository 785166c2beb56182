import type { Pool } from './pool.ts'

/** The version of the Postgres server, such as `18.4`. */
export async function readDatabaseVersion(pool: Pool): Promise<string> {
  const { rows } = await pool.query<{ version: string }>(`SELECT current_setting('server_version') AS version`)
  return rows[0]!.version
}
