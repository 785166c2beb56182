import { sqlUri } from '../../artifacts/layout.ts'
import { sqlBlobKey } from '../artifacts/blobs.ts'
import type { Connection } from '../pool.ts'
import { unfinished } from '../jobs/states.ts'
import { sqlStoredTexts } from './stored-texts.ts'

/** Counts the unfinished jobs of an entity. */
export async function countUnfinishedJobs(connection: Connection, entity: string): Promise<number> {
  return (await countJobs(connection, entity)).count
}

async function countJobs(connection: Connection, entity: string): Promise<{ count: number; connections: number }> {
  const { rows } = await connection.query<{ count: number; connections: number }>(
    `SELECT count(*), current_setting('max_connections')::integer AS connections
     FROM training.jobs WHERE entity = $1 AND state ${unfinished}`,
    [entity],
  )
  return rows[0]!
}

/**
 * Whether an entity has at most `limit` unfinished jobs, with the one that this transaction has inserted. Near the limit,
 * such transactions of one entity run one after another, so that each counts the jobs of the others. Further away they need
 * not: each that is not committed has a connection.
 */
export async function fitsJobLimit(connection: Connection, entity: string, limit: number): Promise<boolean> {
  const { count, connections } = await countJobs(connection, entity)
  if (count + connections <= limit) return true
  await connection.query("SELECT pg_advisory_xact_lock(hashtextextended('queued jobs of ' || $1, 0))", [entity])
  return (await countUnfinishedJobs(connection, entity)) <= limit
}

/**
 * Sums what an entity has in the artifact store: payloads of jobs and logs, data sets, and checkpoints with their token
 * statistics. Texts in Postgres count too: see `countedTables`. Equal files count once. Deleted objects count until they
 * have left the store, and so do those in quarantine. Parts of incomplete files do not count.
 */
export async function sumStoredBytes(connection: Connection, entity: string): Promise<number> {
  const { rows } = await connection.query<{ bytes: number }>(
    `WITH kept AS (SELECT id FROM training.models WHERE entity = $1 AND files_removed_at IS NULL),
     objects AS (
       SELECT input_uri AS uri, input_bytes AS bytes FROM training.jobs
       WHERE model_id IN (SELECT id FROM kept) AND input_removed_at IS NULL AND input_bytes IS NOT NULL
       UNION
       SELECT payload_uri, payload_bytes FROM training.logs
       WHERE model_id IN (SELECT id FROM kept) AND payload_bytes IS NOT NULL
       UNION
       SELECT ${sqlUri(sqlBlobKey)}, size FROM training.blobs b WHERE entity = $1
       UNION
       SELECT ${sqlUri('prefix')}, bytes FROM training.garbage
       WHERE split_part(prefix, '/', 2) = $1 AND split_part(prefix, '/', 1) IN ('payloads', 'artifacts', 'traces')
         AND kept_at IS NULL
     )
     SELECT (
       (SELECT coalesce(sum(bytes), 0) FROM objects) +
       (SELECT coalesce(sum(coalesce(bytes, 0) + coalesce(statistics_bytes, 0)), 0) FROM training.checkpoints
        WHERE model_id IN (SELECT id FROM kept) AND files_removed_at IS NULL) +
       ${sqlStoredTexts}
     )::bigint AS bytes`,
    [entity],
  )
  return rows[0]!.bytes
}
