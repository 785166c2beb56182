import { uriPrefixOf } from '../../artifacts/layout.ts'
import type { Connection } from '../pool.ts'

/** Lists the addresses of a deleted model's payloads that no live model uses. With `only`, checks just that address. */
export async function listOwnPayloads(connection: Connection, modelId: string, only?: string): Promise<string[]> {
  const { rows } = await connection.query<{ uri: string }>(
    `SELECT DISTINCT uri FROM (
       SELECT input_uri AS uri FROM training.jobs WHERE model_id = $1 AND input_removed_at IS NULL
       UNION SELECT payload_uri FROM training.logs WHERE model_id = $1) own
     WHERE starts_with(uri, '${uriPrefixOf('payload')}') AND ($2::text IS NULL OR uri = $2)
       AND NOT EXISTS (SELECT FROM training.jobs j JOIN training.models m ON m.id = j.model_id
                       WHERE j.input_uri = own.uri AND m.deleted_at IS NULL)
       AND NOT EXISTS (SELECT FROM training.logs l JOIN training.models m ON m.id = l.model_id
                       WHERE l.payload_uri = own.uri AND m.deleted_at IS NULL)`,
    [modelId, only ?? null],
  )
  return rows.map(({ uri }) => uri)
}

/** Records that a payload was removed from the store. */
export async function markInputRemoved(connection: Connection, uri: string): Promise<void> {
  await connection.query(
    'UPDATE training.jobs SET input_removed_at = now() WHERE input_uri = $1 AND input_removed_at IS NULL',
    [uri],
  )
}
