import { uriPrefixOf } from '../../artifacts/layout.ts'
import type { Connection } from '../pool.ts'

/**
 * Lists the addresses of payloads whose jobs are all over for longer than the entity's retention. With `only`, checks
 * just that address.
 */
export async function listExpiredPayloads(connection: Connection, only?: string): Promise<string[]> {
  const { rows } = await connection.query<{ uri: string }>(
    `SELECT DISTINCT j.input_uri AS uri
     FROM training.jobs j JOIN auth.entities e ON e.entity = j.entity
     WHERE e.payload_days IS NOT NULL AND j.input_removed_at IS NULL AND starts_with(j.input_uri, '${uriPrefixOf('payload')}')
       AND ($1::text IS NULL OR j.input_uri = $1) AND j.finished_at < now() - make_interval(days => e.payload_days)
       AND NOT EXISTS (SELECT FROM training.jobs o WHERE o.input_uri = j.input_uri
                       AND (o.finished_at IS NULL OR o.finished_at >= now() - make_interval(days => e.payload_days)))
       AND NOT EXISTS (SELECT FROM training.logs l WHERE l.payload_uri = j.input_uri)
     LIMIT 1000`,
    [only ?? null],
  )
  return rows.map(({ uri }) => uri)
}
