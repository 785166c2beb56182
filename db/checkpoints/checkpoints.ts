import { countUpTo } from '../count-up-to.ts'
import type { Pool } from '../pool.ts'

interface CheckpointRow {
  id: string
  step: number
  metrics: Record<string, number>
}

/** A checkpoint in a list. */
export interface ListedCheckpoint extends CheckpointRow {
  createdAt: Date
  /** Null until it is measured. */
  bytes: number | null
  /** The engine pods that have it in memory. */
  loadedOn: string[]
}

/** The step of a checkpoint of this model, even if it is deleted. Undefined if the model never had it. */
export async function findCheckpointStep(pool: Pool, modelId: string, id: string): Promise<number | undefined> {
  const { rows } = await pool.query<{ step: number }>(
    'SELECT step FROM training.checkpoints WHERE id = $2 AND model_id = $1',
    [modelId, id],
  )
  return rows[0]?.step
}

/** Lists a page of a model's checkpoints that follow the step `after` in the given order. */
export async function listCheckpoints(
  pool: Pool,
  modelId: string,
  page: { after: number | undefined; order: 'asc' | 'desc'; limit: number },
): Promise<ListedCheckpoint[]> {
  const [comparison, direction] = page.order === 'desc' ? ['<', 'DESC'] : ['>', 'ASC']
  const { rows } = await pool.query<ListedCheckpoint>(
    `SELECT id, step, metrics, created_at AS "createdAt", bytes,
       ARRAY(SELECT pod_name FROM training.engine_adapters WHERE checkpoint_id = c.id AND error IS NULL ORDER BY pod_name)
         AS "loadedOn"
     FROM training.checkpoints c
     WHERE model_id = $1 AND deleted_at IS NULL AND ($2::integer IS NULL OR step ${comparison} $2)
     ORDER BY step ${direction} LIMIT $3`,
    [modelId, page.after ?? null, page.limit],
  )
  return rows
}

/** Counts the checkpoints of a model, up to `most`. */
export function countCheckpoints(pool: Pool, modelId: string, most: number): Promise<number> {
  const text = 'SELECT FROM training.checkpoints WHERE model_id = $1 AND deleted_at IS NULL'
  return countUpTo(pool, { text, values: [modelId] }, most)
}

/** How a request names a checkpoint: by step, by alias, or as the newest. */
export type StepReference = { step: number } | { alias: string } | 'latest'

/** A checkpoint and the address of its files. */
export interface StoredCheckpoint extends CheckpointRow {
  uri: string
  /** The SHA-256 of its manifest.json. */
  digest: string
  createdAt: Date
  /** The aliases that name it. */
  aliases: string[]
  /** The file with the statistics of its training tokens. */
  statistics: { digest: string; size: number } | null
}

/** Finds the checkpoint of a model that a reference names. */
export async function findCheckpoint(
  pool: Pool,
  modelId: string,
  reference: StepReference,
): Promise<StoredCheckpoint | undefined> {
  const { step, alias }: { step?: number; alias?: string } = reference === 'latest' ? {} : reference
  const { rows } = await pool.query<StoredCheckpoint>(
    `SELECT c.id, c.step, c.metrics, c.uri, c.digest, c.created_at AS "createdAt",
       ARRAY(SELECT alias FROM training.aliases WHERE model_id = c.model_id AND step = c.step ORDER BY alias) AS aliases,
       CASE WHEN c.statistics_digest IS NOT NULL
         THEN jsonb_build_object('digest', c.statistics_digest, 'size', c.statistics_bytes) END AS statistics
     FROM training.checkpoints c
     WHERE c.model_id = $1 AND c.deleted_at IS NULL AND ($2::integer IS NULL OR c.step = $2)
       AND ($3::text IS NULL OR c.step = (SELECT step FROM training.aliases WHERE model_id = $1 AND alias = $3))
     ORDER BY c.step DESC LIMIT 1`,
    [modelId, step ?? null, alias ?? null],
  )
  return rows[0]
}

/** Records how many bytes a checkpoint has in the store. */
export async function recordCheckpointBytes(pool: Pool, id: string, bytes: number): Promise<void> {
  await pool.query('UPDATE training.checkpoints SET bytes = $2 WHERE id = $1', [id, bytes])
}
