import { countUpTo } from '../count-up-to.ts'
import { pickColumns, selectColumns, type RowOf } from '../columns.ts'
import type { Pool } from '../pool.ts'
import { modelColumns } from './table.ts'

const columns = pickColumns(modelColumns, 'id', 'entity', 'project', 'name', 'baseModel', 'createdAt', 'retention')

/** A model with everything that clients see of it. */
export interface ModelDetails extends RowOf<typeof columns> {
  /** The step of its newest checkpoint; 0 without one. */
  latestStep: number
  /** How many ready engines have its newest checkpoint in memory. */
  loadedEngines: number
  aliases: Record<string, number>
  forkedFrom: { modelId: string; step: number; checkpointId: string | null } | null
}

const select = `SELECT ${selectColumns(columns, 'm')},
    (SELECT coalesce(max(step), 0) FROM training.checkpoints
     WHERE model_id = m.id AND deleted_at IS NULL) AS "latestStep",
    (SELECT count(*) FROM training.engine_adapters a WHERE a.error IS NULL AND a.checkpoint_id =
       (SELECT id FROM training.checkpoints WHERE model_id = m.id AND deleted_at IS NULL ORDER BY step DESC LIMIT 1)
    ) AS "loadedEngines",
    (SELECT coalesce(jsonb_object_agg(alias, step), '{}') FROM training.aliases WHERE model_id = m.id) AS aliases,
    CASE WHEN m.forked_from_model IS NOT NULL THEN jsonb_build_object(
      'modelId', m.forked_from_model, 'step', m.forked_from_step, 'checkpointId', m.forked_from) END AS "forkedFrom"
  FROM training.models m`

/** Finds a visible model of an entity. */
export async function findModelDetails(pool: Pool, entity: string, id: string): Promise<ModelDetails | undefined> {
  const { rows } = await pool.query<ModelDetails>(
    `${select} WHERE m.id = $1 AND m.entity = $2 AND m.hidden_at IS NULL AND m.deleted_at IS NULL`,
    [id, entity],
  )
  return rows[0]
}

/** Selects models of an entity. */
export interface ModelFilter {
  entity: string
  project: string | undefined
  name: string | undefined
}

/** Returns the id if the list has or had this model: a deleted model still works as a cursor. */
export async function findListedModel(pool: Pool, filter: ModelFilter, id: string): Promise<string | undefined> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT id FROM training.models
     WHERE id = $1 AND entity = $2 AND ($3::text IS NULL OR project = $3) AND ($4::text IS NULL OR name = $4)`,
    [id, filter.entity, filter.project ?? null, filter.name ?? null],
  )
  return rows[0]?.id
}

const filtered = `m.entity = $1 AND ($2::text IS NULL OR m.project = $2) AND ($3::text IS NULL OR m.name = $3)
  AND m.hidden_at IS NULL AND m.deleted_at IS NULL`

/** Counts an entity's visible models, up to `most`. */
export function countModels(pool: Pool, { entity, project, name }: ModelFilter, most: number): Promise<number> {
  const values = [entity, project ?? null, name ?? null]
  return countUpTo(pool, { text: `SELECT FROM training.models m WHERE ${filtered}`, values }, most)
}

/** Lists a page of an entity's visible models that follow the model `after`, by age. */
export async function listModelDetails(
  pool: Pool,
  filter: ModelFilter,
  page: { after: string | undefined; order: 'asc' | 'desc'; limit: number },
): Promise<ModelDetails[]> {
  const [comparison, direction] = page.order === 'desc' ? ['<', 'DESC'] : ['>', 'ASC']
  const { rows } = await pool.query<ModelDetails>(
    `${select}
     WHERE ${filtered}
       AND ($4::uuid IS NULL OR
         (m.created_at, m.id) ${comparison} (SELECT c.created_at, c.id FROM training.models c WHERE c.id = $4))
     ORDER BY m.created_at ${direction}, m.id ${direction} LIMIT $5`,
    [filter.entity, filter.project ?? null, filter.name ?? null, page.after ?? null, page.limit],
  )
  return rows
}
