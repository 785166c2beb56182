import type { Pool } from '../pool.ts'

export interface CheckpointRow {
  id: string
  step: number
  metrics: Record<string, number>
}

/** The step of a checkpoint of this model, a deleted one too; undefined when it never had such a checkpoint. */
export async function findCheckpointStep(pool: Pool, modelId: string, id: string): Promise<number | undefined> {
  const { rows } = await pool.query<{ step: number }>(
    'SELECT step FROM training.checkpoints WHERE id = $2 AND model_id = $1',
    [modelId, id],
  )
  return rows[0]?.step
}

/** A page of a model's checkpoints by step, those after `after` (a step) in the order that is asked for. */
export async function listCheckpoints(
  pool: Pool,
  modelId: string,
  page: { after: number | undefined; order: 'asc' | 'desc'; limit: number },
): Promise<CheckpointRow[]> {
  const [comparison, direction] = page.order === 'desc' ? ['<', 'DESC'] : ['>', 'ASC']
  const { rows } = await pool.query<CheckpointRow>(
    `SELECT id, step, metrics FROM training.checkpoints
     WHERE model_id = $1 AND deleted_at IS NULL AND ($2::integer IS NULL OR step ${comparison} $2)
     ORDER BY step ${direction} LIMIT $3`,
    [modelId, page.after ?? null, page.limit],
  )
  return rows
}

/** How a checkpoint of a model is asked for: by its number, by an alias, or as the newest. */
export type StepReference = { step: number } | { alias: string } | 'latest'

/** One checkpoint, and where its files are. */
export interface StoredCheckpoint extends CheckpointRow {
  uri: string
  /** sha256 of its manifest.json */
  digest: string
  createdAt: Date
  /** the aliases that it goes by */
  aliases: string[]
  /** of the tokens that it was trained on: a file beside its own */
  statistics: { digest: string; size: number } | null
}

/** The checkpoint of a model that a reference means; undefined when there is none. */
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

/** Records how many bytes a checkpoint takes in the store. */
export async function recordCheckpointBytes(pool: Pool, id: string, bytes: number): Promise<void> {
  await pool.query('UPDATE training.checkpoints SET bytes = $2 WHERE id = $1', [id, bytes])
}
