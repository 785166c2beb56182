import type { Pool } from '../pool.ts'
import { withTransaction } from '../pool.ts'
import { isBlobNeeded, sqlBlobKey } from '../artifacts/blobs.ts'

/** An unfinished erasure. */
export interface RunningErasure {
  id: string
  entity: string
  project: string | null
  keyId: string
  requestedAt: Date
  measuredAt: Date | null
  ageSeconds: number
}

// One statement must end well within its time limit.
const rowsAtOnce = 10_000

// `$1` is the entity, `$2` the project or null for the whole entity, `$3` the time of the request. Newer rows stay.
const models = `SELECT id FROM training.models
  WHERE entity = $1 AND ($2::text IS NULL OR project = $2) AND created_at <= $3 AND deleted_at IS NOT NULL`
const jobs = `SELECT id FROM training.jobs WHERE model_id IN (${models})`
const owned = 'entity = $1 AND ($2::text IS NULL OR project = $2)'
const runs = `SELECT number FROM training.runs WHERE ${owned} AND created_at <= $3`
const webhooks = `SELECT id FROM training.webhooks WHERE ${owned} AND created_at <= $3`
const entityOnly = 'entity = $1 AND $2::text IS NULL'
const wholeEntity = `${entityOnly} AND $3::timestamptz IS NOT NULL`

interface ErasedKind {
  kind: string
  table: string
  condition: string
}

/** The rows to remove, in this order: referring rows come before the rows that they refer to. */
const kinds: ErasedKind[] = [
  {
    kind: 'outbox',
    table: 'training.outbox',
    // Also includes their changes during the erasure.
    condition: `${owned} AND (at <= $3 OR subject_id IN (${models}) OR subject_id IN (${jobs}))`,
  },
  { kind: 'trajectories', table: 'training.trajectories', condition: `model_id IN (${models})` },
  { kind: 'logs', table: 'training.logs', condition: `model_id IN (${models})` },
  { kind: 'events', table: 'training.events', condition: `job_id IN (${jobs})` },
  { kind: 'log_lines', table: 'training.job_logs', condition: `job_id IN (${jobs})` },
  { kind: 'checkpoints', table: 'training.checkpoints', condition: `model_id IN (${models})` },
  { kind: 'jobs', table: 'training.jobs', condition: `id IN (${jobs})` },
  { kind: 'metric_buckets', table: 'training.metric_buckets', condition: `model_id IN (${models})` },
  { kind: 'metric_heads', table: 'training.metric_heads', condition: `model_id IN (${models})` },
  { kind: 'models', table: 'training.models', condition: `id IN (${models})` },
  {
    kind: 'dataset_versions',
    table: 'training.artifact_versions',
    condition: `created_at <= $3 AND artifact_id IN (SELECT id FROM training.artifacts WHERE ${owned})`,
  },
  {
    kind: 'pending_datasets',
    table: 'training.pending_artifacts',
    condition: `${owned} AND created_at <= $3`,
  },
  {
    kind: 'datasets',
    table: 'training.artifacts',
    condition: `${owned} AND created_at <= $3
      AND NOT EXISTS (SELECT FROM training.artifact_versions v WHERE v.artifact_id = artifacts.id)`,
  },
  {
    kind: 'webhook_deliveries',
    table: 'training.webhook_deliveries',
    condition: `webhook_id IN (${webhooks})`,
  },
  { kind: 'webhooks', table: 'training.webhooks', condition: `id IN (${webhooks})` },
  { kind: 'responses', table: 'training.responses', condition: `${owned} AND created_at <= $3` },
  { kind: 'run_lines', table: 'training.run_lines', condition: `run IN (${runs})` },
  { kind: 'run_files', table: 'training.run_files', condition: `run IN (${runs})` },
  { kind: 'run_keys', table: 'training.run_key_sets', condition: `run IN (${runs})` },
  { kind: 'runs', table: 'training.runs', condition: `number IN (${runs})` },
  { kind: 'usage', table: 'training.usage', condition: `${owned} AND hour <= $3` },
  { kind: 'requests', table: 'auth.idempotent_requests', condition: `${entityOnly} AND created_at <= $3` },
  { kind: 'queues', table: 'training.entity_queues', condition: wholeEntity },
  { kind: 'queue_corrections', table: 'training.queue_corrections', condition: wholeEntity },
  { kind: 'pauses', table: 'training.queue_pauses', condition: `${wholeEntity} AND NOT by_administrator` },
  { kind: 'limits', table: 'auth.entities', condition: wholeEntity },
]

/** Lists unfinished erasures, oldest first. */
export async function listRunningErasures(pool: Pool): Promise<RunningErasure[]> {
  const { rows } = await pool.query<RunningErasure>(
    `SELECT id, entity, project, key_id AS "keyId", requested_at AS "requestedAt", measured_at AS "measuredAt",
       extract(epoch FROM now() - requested_at)::float8 AS "ageSeconds"
     FROM training.erasures WHERE finished_at IS NULL ORDER BY requested_at`,
  )
  return rows
}

/** Records, once, how much was in the store before the erasure removed anything. */
export async function recordMeasured(
  pool: Pool,
  id: string,
  measured: { objects: number; bytes: number },
): Promise<void> {
  await pool.query(
    `UPDATE training.erasures SET measured_at = now(), report = report || $2 WHERE id = $1 AND measured_at IS NULL`,
    [id, JSON.stringify(measured)],
  )
}

/** Removes the rows of all kinds in portions. Each portion is counted in the report in its own transaction. */
export async function eraseRows(pool: Pool, erasure: RunningErasure): Promise<void> {
  await eraseOrigins(pool, erasure)
  for (const each of kinds) {
    for (let removed = rowsAtOnce; removed === rowsAtOnce;) removed = await eraseSome(pool, erasure, each)
  }
}

/** Forks stay when their origin is erased. */
async function eraseOrigins(pool: Pool, { entity, project, requestedAt }: RunningErasure): Promise<void> {
  await pool.query(
    `UPDATE training.checkpoints SET forked_from = NULL WHERE forked_from IN
       (SELECT id FROM training.checkpoints WHERE model_id IN (${models}))`,
    [entity, project, requestedAt],
  )
  await pool.query(
    `UPDATE training.models SET forked_from = NULL, forked_from_model = NULL, forked_from_step = NULL
     WHERE forked_from_model IN (${models})`,
    [entity, project, requestedAt],
  )
}

async function eraseSome(pool: Pool, erasure: RunningErasure, { kind, table, condition }: ErasedKind): Promise<number> {
  const { rows } = await pool.query<{ removed: number }>(
    `WITH gone AS (
       DELETE FROM ${table} WHERE ctid IN (SELECT ctid FROM ${table} WHERE ${condition} LIMIT ${rowsAtOnce}) RETURNING 1
     ), counted AS (SELECT count(*) AS removed FROM gone)
     UPDATE training.erasures SET report =
       report || jsonb_build_object($5::text, coalesce((report->$5)::bigint, 0) + removed)
     FROM counted WHERE id = $4 RETURNING removed`,
    [erasure.entity, erasure.project, erasure.requestedAt, erasure.id, kind],
  )
  return rows[0]?.removed ?? 0
}

/** Lists an entity's files from before a time that no job and no version of a data set needs. */
export async function listUnneededBlobs(
  pool: Pool,
  entity: string,
  before: Date,
): Promise<{ digest: string; key: string }[]> {
  const { rows } = await pool.query<{ digest: string; key: string }>(
    `SELECT b.digest, ${sqlBlobKey} AS key FROM training.blobs b WHERE b.entity = $1 AND b.created_at <= $2 AND NOT ${isBlobNeeded}`,
    [entity, before],
  )
  return rows
}

/**
 * Removes a file and its row and counts it in the report. Keeps it if it is needed again, or if a request adds a
 * version with it just now. If the file cannot be removed, its row stays.
 */
export async function eraseBlob(
  pool: Pool,
  { id, entity, requestedAt }: RunningErasure,
  { digest, remove }: { digest: string; remove: () => Promise<void> },
): Promise<void> {
  await withTransaction(pool, async (connection) => {
    await connection.query('SELECT FROM training.blobs WHERE entity = $1 AND digest = $2 FOR UPDATE SKIP LOCKED', [
      entity,
      digest,
    ])
    // This statement sees the changes of the transaction that held the lock before.
    const { rowCount } = await connection.query(
      `WITH free AS (
         SELECT b.entity, b.digest FROM training.blobs b
         WHERE b.entity = $2 AND b.digest = $3 AND b.created_at <= $4 AND NOT ${isBlobNeeded} FOR UPDATE SKIP LOCKED
       ), gone AS (DELETE FROM training.blobs b USING free f WHERE b.entity = f.entity AND b.digest = f.digest RETURNING size)
       UPDATE training.erasures SET report = report || jsonb_build_object(
         'objects', coalesce((report->'objects')::bigint, 0) + 1,
         'bytes', coalesce((report->'bytes')::bigint, 0) + gone.size)
       FROM gone WHERE id = $1`,
      [id, entity, digest, requestedAt],
    )
    if (rowCount === 1) await remove()
  })
}

/** Removes an object that the database did not know, and counts it in the report. Does both or neither. */
export async function countErased(
  pool: Pool,
  id: string,
  { bytes, remove }: { bytes: number; remove: () => Promise<void> },
): Promise<void> {
  await withTransaction(pool, async (connection) => {
    await connection.query(
      `UPDATE training.erasures SET report = report || jsonb_build_object(
         'objects', coalesce((report->'objects')::bigint, 0) + 1,
         'bytes', coalesce((report->'bytes')::bigint, 0) + $2::bigint)
       WHERE id = $1`,
      [id, bytes],
    )
    await remove()
  })
}

/**
 * Finishes an erasure. If it covers the entity, removes all keys of that time except the key that requested it: that
 * one can read the report for a day.
 */
export async function finishErasure(
  pool: Pool,
  { id, entity, project, keyId, requestedAt }: RunningErasure,
): Promise<void> {
  await withTransaction(pool, async (connection) => {
    if (project === null) {
      const old = 'entity = $1 AND id <> $2 AND created_at <= $3'
      const those = [entity, keyId, requestedAt]
      await connection.query(
        `UPDATE auth.api_keys SET replaced_by = NULL
         WHERE replaced_by IN (SELECT id FROM auth.api_keys WHERE ${old})`,
        those,
      )
      const { rowCount } = await connection.query(`DELETE FROM auth.api_keys WHERE ${old}`, those)
      await connection.query(
        `UPDATE auth.api_keys SET expires_at = least(expires_at, now() + interval '1 day') WHERE id = $1`,
        [keyId],
      )
      await connection.query('UPDATE training.erasures SET report = report || $2 WHERE id = $1', [
        id,
        JSON.stringify({ keys: rowCount }),
      ])
    }
    await connection.query('UPDATE training.erasures SET finished_at = now() WHERE id = $1', [id])
  })
}

/** Removes the last keys of entities whose erasure finished a day ago. */
export async function eraseLastKeys(pool: Pool): Promise<void> {
  await pool.query(
    `DELETE FROM auth.api_keys k USING training.erasures e
     WHERE e.key_id = k.id AND e.project IS NULL AND e.finished_at < now() - interval '1 day'
       AND k.expires_at < now()`,
  )
}
