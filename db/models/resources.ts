import type { Pool } from '../pool.ts'

/** A model as the operator sees it, with its checkpoints counted. */
export interface OperatorModel {
  id: string
  entity: string
  project: string
  name: string
  baseModel: string
  namespace: string
  crName: string
  crMadeAt: Date | null
  hiddenAt: Date | null
  /** of its newest checkpoint; 0 without one */
  latestStep: number
  checkpoints: number
  deletionPolicy: DeletionPolicy
  aliases: Record<string, number>
  /** what was taken over of its resource's aliases */
  resourceAliases: Record<string, number>
}

/** What the deletion of a model's resource means. */
export type DeletionPolicy = 'Retain' | 'Delete'

export type NewOperatorModel = Pick<OperatorModel, 'entity' | 'project' | 'name' | 'baseModel' | 'namespace' | 'crName'>

const select = `SELECT m.id, m.entity, m.project, m.name, m.base_model AS "baseModel", m.namespace,
    m.cr_name AS "crName", m.cr_made_at AS "crMadeAt", m.hidden_at AS "hiddenAt",
    (SELECT coalesce(max(step), 0) FROM training.checkpoints c WHERE c.model_id = m.id AND c.deleted_at IS NULL) AS "latestStep",
    (SELECT count(*) FROM training.checkpoints c WHERE c.model_id = m.id AND c.deleted_at IS NULL) AS checkpoints,
    m.deletion_policy AS "deletionPolicy", m.resource_aliases AS "resourceAliases",
    (SELECT coalesce(jsonb_object_agg(alias, step), '{}') FROM training.aliases a WHERE a.model_id = m.id) AS aliases
  FROM training.models m`

/** The model of a name, hidden ones too. */
export async function findNamedModel(
  pool: Pool,
  { entity, project, name }: Pick<OperatorModel, 'entity' | 'project' | 'name'>,
): Promise<OperatorModel | undefined> {
  const { rows } = await pool.query<OperatorModel>(
    `${select} WHERE m.entity = $1 AND m.project = $2 AND m.name = $3 AND m.deleted_at IS NULL`,
    [entity, project, name],
  )
  return rows[0]
}

/** Makes the row of a model that was made with kubectl; nothing when somebody else was faster with its name. */
export async function insertResourceModel(pool: Pool, model: NewOperatorModel): Promise<void> {
  const { entity, project, name, baseModel, namespace, crName } = model
  await pool.query(
    `INSERT INTO training.models (entity, project, name, base_model, namespace, cr_name, cr_made_at)
     VALUES ($1, $2, $3, $4, $5, $6, now()) ON CONFLICT (entity, project, name) WHERE deleted_at IS NULL DO NOTHING`,
    [entity, project, name, baseModel, namespace, crName],
  )
}

/** Ties a model to the resource that was found for it, and shows it again when it was hidden. */
export async function tieModel(pool: Pool, id: string, namespace: string, crName: string): Promise<void> {
  await pool.query(
    `UPDATE training.models
     SET namespace = $2, cr_name = $3, cr_made_at = coalesce(cr_made_at, now()), hidden_at = NULL WHERE id = $1`,
    [id, namespace, crName],
  )
}

/** Remembers what the deletion of a model's resource will mean: then nobody can ask the resource any more. */
export async function recordDeletionPolicy(pool: Pool, id: string, policy: DeletionPolicy): Promise<void> {
  await pool.query('UPDATE training.models SET deletion_policy = $2 WHERE id = $1', [id, policy])
}

/** The visible models of a resource name whose resource was made: when that is gone, somebody deleted it. */
export async function listModelsOfResource(pool: Pool, namespace: string, crName: string): Promise<OperatorModel[]> {
  const { rows } = await pool.query<OperatorModel>(
    `${select} WHERE m.namespace = $1 AND m.cr_name = $2 AND m.hidden_at IS NULL AND m.deleted_at IS NULL
       AND m.cr_made_at IS NOT NULL`,
    [namespace, crName],
  )
  return rows
}

/** Hides a model whose resource was deleted, unless that was made anew since the row was read. */
export async function hideModel(pool: Pool, { id, crMadeAt }: OperatorModel): Promise<void> {
  await pool.query(
    `UPDATE training.models SET hidden_at = now()
     WHERE id = $1 AND hidden_at IS NULL AND date_trunc('milliseconds', cr_made_at) = $2`,
    [id, crMadeAt],
  )
}

/** Resource names of the visible models of a namespace whose resource was made. */
export async function listModelResources(pool: Pool, namespace: string): Promise<string[]> {
  const { rows } = await pool.query<{ crName: string }>(
    `SELECT cr_name AS "crName" FROM training.models
     WHERE namespace = $1 AND hidden_at IS NULL AND deleted_at IS NULL AND cr_made_at IS NOT NULL`,
    [namespace],
  )
  return rows.map((row) => row.crName)
}

/** The resource name of a model, by its id. */
export async function findModelResource(pool: Pool, id: string, namespace: string): Promise<string | undefined> {
  const { rows } = await pool.query<{ crName: string }>(
    'SELECT cr_name AS "crName" FROM training.models WHERE id = $1 AND namespace = $2',
    [id, namespace],
  )
  return rows[0]?.crName
}

export interface UnmadeModel extends NewOperatorModel {
  id: string
  /** resource name of its base model */
  baseModelCrName: string
}

/** Models of a namespace whose resource is still to be made, oldest first; those without a base model wait. */
export async function listUnmadeModels(pool: Pool, namespace: string): Promise<UnmadeModel[]> {
  const { rows } = await pool.query<UnmadeModel>(
    `SELECT m.id, m.entity, m.project, m.name, m.base_model AS "baseModel", m.namespace, m.cr_name AS "crName",
       b.cr_name AS "baseModelCrName"
     FROM training.models m JOIN training.base_models b ON b.name = m.base_model
     WHERE m.cr_made_at IS NULL AND m.hidden_at IS NULL AND m.deleted_at IS NULL AND m.namespace = $1 ORDER BY m.created_at LIMIT 100`,
    [namespace],
  )
  return rows
}

/** Notes that the resource of a model was made. */
export async function markModelResource(pool: Pool, id: string): Promise<void> {
  await pool.query('UPDATE training.models SET cr_made_at = now() WHERE id = $1 AND cr_made_at IS NULL', [id])
}
