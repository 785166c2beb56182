import type { Pool } from '../pool.ts'

/** What lies in the store below one prefix, or is one object; `bytes` in all. */
export interface StoredUnit {
  prefix: string
  bytes: number
}

/** Whether rows point at a stored unit, or ever did. */
export interface UnitReference {
  prefix: string
  referenced: boolean
  /** the database has never heard of it */
  unseen: boolean
}

/** Looks up checkpoints by their ids: what is deleted and not purged yet is still looked after by somebody else. */
export async function referToCheckpoints(pool: Pool, ids: string[]): Promise<UnitReference[]> {
  const { rows } = await pool.query<UnitReference>(
    `SELECT 'checkpoints/' || id AS prefix,
       EXISTS (SELECT FROM training.checkpoints c WHERE c.id = given.id AND c.purged_at IS NULL)
         OR EXISTS (SELECT FROM training.jobs j WHERE j.checkpoint_id = given.id
                    AND j.state NOT IN ('Succeeded', 'Failed', 'Cancelled')) AS referenced,
       NOT EXISTS (SELECT FROM training.checkpoints c WHERE c.id = given.id)
         AND NOT EXISTS (SELECT FROM training.jobs j WHERE j.checkpoint_id = given.id) AS unseen
     FROM unnest($1::uuid[]) AS given (id)`,
    [ids],
  )
  return rows
}

/** Looks up token statistics by their keys, `token-statistics/<checkpoint>.parquet`; a report comes after its file. */
export async function referToStatistics(pool: Pool, keys: string[]): Promise<UnitReference[]> {
  const { rows } = await pool.query<UnitReference>(
    `SELECT key AS prefix, false AS unseen,
       EXISTS (SELECT FROM training.checkpoints c WHERE c.id = substr(key, 18, 36)::uuid
               AND c.statistics_digest IS NOT NULL AND c.purged_at IS NULL) AS referenced
     FROM unnest($1::text[]) AS given (key)`,
    [keys],
  )
  return rows
}

/** Looks up what jobs have saved, by `progress/<job>/<id>`. */
export async function referToProgress(pool: Pool, prefixes: string[]): Promise<UnitReference[]> {
  const { rows } = await pool.query<UnitReference>(
    `SELECT prefix, false AS unseen,
       EXISTS (SELECT FROM training.job_progress p
               WHERE p.job_id = split_part(prefix, '/', 2)::uuid AND p.id = split_part(prefix, '/', 3)::uuid) AS referenced
     FROM unnest($1::text[]) AS given (prefix)`,
    [prefixes],
  )
  return rows
}

/** Looks up payloads by their keys. */
export async function referToPayloads(pool: Pool, keys: string[]): Promise<UnitReference[]> {
  const { rows } = await pool.query<UnitReference>(
    `SELECT key AS prefix, false AS unseen,
       EXISTS (SELECT FROM training.jobs j WHERE j.input_uri = 'artifact:///' || key AND j.input_gone_at IS NULL)
         OR EXISTS (SELECT FROM training.logs l WHERE l.payload_uri = 'artifact:///' || key) AS referenced
     FROM unnest($1::text[]) AS given (key)`,
    [keys],
  )
  return rows
}

/** Looks up files of data sets by their keys, `artifacts/<entity>/<digest>`. */
export async function referToBlobs(pool: Pool, keys: string[]): Promise<UnitReference[]> {
  const { rows } = await pool.query<UnitReference>(
    `SELECT key AS prefix, false AS unseen,
       EXISTS (SELECT FROM training.blobs b
               WHERE b.entity = split_part(key, '/', 2) AND b.digest = split_part(key, '/', 3)) AS referenced
     FROM unnest($1::text[]) AS given (key)`,
    [keys],
  )
  return rows
}

/** Quarantines what nothing points at; what was noted and is pointed at, or gone, is forgotten. */
export async function noteGarbage(pool: Pool, found: StoredUnit[]): Promise<void> {
  const prefixes = found.map(({ prefix }) => prefix)
  await pool.query('DELETE FROM training.garbage WHERE prefix <> ALL ($1)', [prefixes])
  await pool.query(
    `INSERT INTO training.garbage (prefix, bytes)
     SELECT prefix, bytes FROM jsonb_to_recordset($1) AS found (prefix text, bytes bigint)
     ON CONFLICT (prefix) DO NOTHING`,
    [JSON.stringify(found)],
  )
}

/** What has been in quarantine for so long. */
export async function listOldGarbage(pool: Pool, afterSeconds: number): Promise<StoredUnit[]> {
  const { rows } = await pool.query<StoredUnit>(
    'SELECT prefix, bytes FROM training.garbage WHERE noted_at < now() - make_interval(secs => $1) ORDER BY noted_at',
    [afterSeconds],
  )
  return rows
}

/** Forgets what is removed. */
export async function forgetGarbage(pool: Pool, prefix: string): Promise<void> {
  await pool.query('DELETE FROM training.garbage WHERE prefix = $1', [prefix])
}

/** Addresses of payloads whose jobs have all been over for as long as their entity keeps payloads. */
export async function listOldPayloads(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ uri: string }>(
    `SELECT DISTINCT j.input_uri AS uri
     FROM training.jobs j JOIN auth.entities e ON e.entity = j.entity
     WHERE e.payload_days IS NOT NULL AND j.input_gone_at IS NULL AND starts_with(j.input_uri, 'artifact:///payloads/')
       AND j.finished_at < now() - make_interval(days => e.payload_days)
       AND NOT EXISTS (SELECT FROM training.jobs o WHERE o.input_uri = j.input_uri
                       AND (o.finished_at IS NULL OR o.finished_at >= now() - make_interval(days => e.payload_days)))
       AND NOT EXISTS (SELECT FROM training.logs l WHERE l.payload_uri = j.input_uri)
     LIMIT 1000`,
  )
  return rows.map(({ uri }) => uri)
}

/** Checkpoints that are no longer their model's newest and may have optimizer state. */
export async function listOldOptimizers(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT c.id FROM training.checkpoints c
     WHERE c.deleted_at IS NULL AND c.optimizer_gone_at IS NULL AND EXISTS (
       SELECT FROM training.checkpoints n WHERE n.model_id = c.model_id AND n.step > c.step AND n.deleted_at IS NULL)
     LIMIT 500`,
  )
  return rows.map(({ id }) => id)
}

/** Notes that the optimizer state of a checkpoint is gone. */
export async function noteOptimizerGone(pool: Pool, id: string): Promise<void> {
  await pool.query('UPDATE training.checkpoints SET optimizer_gone_at = now() WHERE id = $1', [id])
}

/** Files of data sets that no version and no job has needed since a day after they came: uploads that went nowhere. */
export async function forgetOldBlobs(pool: Pool, afterSeconds: number): Promise<void> {
  await pool.query(
    `DELETE FROM training.blobs WHERE (entity, digest) IN (
       SELECT b.entity, b.digest FROM training.blobs b
       WHERE b.created_at < now() - make_interval(secs => $1)
         AND NOT EXISTS (
           SELECT FROM training.artifact_versions v JOIN training.artifacts a ON a.id = v.artifact_id
           WHERE a.entity = b.entity AND v.files @> jsonb_build_array(jsonb_build_object('digest', b.digest)))
         AND NOT EXISTS (
           SELECT FROM training.jobs j JOIN training.models m ON m.id = j.model_id
           WHERE m.deleted_at IS NULL AND j.input_uri = 'artifact:///artifacts/' || b.entity || '/' || b.digest)
       LIMIT 1000 FOR UPDATE SKIP LOCKED)`,
    [afterSeconds],
  )
}
