import type { Pool } from '../pool.ts'

/** The secret that signs links, of this installation. */
export async function readLinkSecret(pool: Pool): Promise<Buffer> {
  const { rows } = await pool.query<{ secret: Buffer }>('SELECT link_secret AS secret FROM training.installation')
  return rows[0]!.secret
}
