import { pickColumns, selectColumns, type RowOf } from '../columns.ts'
import type { InvalidatingConnection } from '../changes.ts'
import type { Pool } from '../pool.ts'
import type { EngineContainer } from '../engines/loaded-adapters.ts'
import type { ModelName } from './models.ts'
import { modelColumns, type DeletionPolicy } from './table.ts'

const columns = {
  ...pickColumns(modelColumns, 'id', 'entity', 'project', 'name', 'baseModel', 'namespace', 'crName'),
  ...pickColumns(modelColumns, 'resourceCreatedAt', 'hiddenAt', 'deletionPolicy', 'keepLoaded', 'resourceAliases'),
}

/** What an engine pod has said about a checkpoint: it is loaded, or why it cannot be loaded. */
export interface EngineReport extends EngineContainer {
  error: string | null
}

/** A model as the operator sees it, with the number of its checkpoints. */
export interface OperatorModel extends RowOf<typeof columns> {
  /** The step of its newest checkpoint; 0 without one. */
  latestStep: number
  checkpoints: number
  newestCheckpoint: string | null
  /** What engines have said about its newest checkpoint. */
  engineReports: EngineReport[]
  aliases: Record<string, number>
}

const select = `SELECT ${selectColumns(columns, 'm')},
    coalesce(newest.step, 0) AS "latestStep", newest.id AS "newestCheckpoint",
    (SELECT count(*) FROM training.checkpoints c WHERE c.model_id = m.id AND c.deleted_at IS NULL) AS checkpoints,
    (SELECT coalesce(jsonb_agg(jsonb_build_object('podName', pod_name, 'podUid', pod_uid,
       'containerStart', container_start, 'error', error) ORDER BY pod_name), '[]')
     FROM training.engine_adapters WHERE checkpoint_id = newest.id) AS "engineReports",
    (SELECT coalesce(jsonb_object_agg(alias, step), '{}') FROM training.aliases a WHERE a.model_id = m.id) AS aliases
  FROM training.models m LEFT JOIN LATERAL (SELECT id, step FROM training.checkpoints c
    WHERE c.model_id = m.id AND c.deleted_at IS NULL ORDER BY step DESC LIMIT 1) newest ON true`

/** Finds a model by name, hidden ones too. */
export async function findNamedModel(
  pool: Pool,
  { entity, project, name }: ModelName,
): Promise<OperatorModel | undefined> {
  const { rows } = await pool.query<OperatorModel>(
    `${select} WHERE m.entity = $1 AND m.project = $2 AND m.name = $3 AND m.deleted_at IS NULL`,
    [entity, project, name],
  )
  return rows[0]
}

/** Assigns a resource to a model, and makes a hidden model visible again. */
export async function tieModel(pool: Pool, id: string, namespace: string, crName: string): Promise<void> {
  await pool.query(
    `UPDATE training.models
     SET namespace = $2, cr_name = $3, resource_created_at = coalesce(resource_created_at, now()), hidden_at = NULL WHERE id = $1`,
    [id, namespace, crName],
  )
}

/** What the resource of a model says and its row repeats. */
export interface ModelPolicies {
  deletionPolicy: DeletionPolicy
  keepLoaded: boolean
}

/** Records the policies of a model's resource. Once the resource is deleted, nobody can read them there. */
export async function recordPolicies(
  pool: Pool,
  id: string,
  { deletionPolicy, keepLoaded }: ModelPolicies,
): Promise<void> {
  await pool.query('UPDATE training.models SET deletion_policy = $2, keep_loaded = $3 WHERE id = $1', [
    id,
    deletionPolicy,
    keepLoaded,
  ])
}

const ofResource = `namespace = $1 AND cr_name = $2 AND hidden_at IS NULL AND deleted_at IS NULL
  AND resource_created_at IS NOT NULL`

/** Whether a visible model has a resource of this name, which was created. */
export async function hasCreatedModelResource(pool: Pool, namespace: string, crName: string): Promise<boolean> {
  const { rows } = await pool.query(`SELECT FROM training.models WHERE ${ofResource} LIMIT 1`, [namespace, crName])
  return rows.length === 1
}

/** Has the lost resource of a visible model made again. Returns the ids of such models. */
export async function forgetModelResource(pool: Pool, namespace: string, crName: string): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `UPDATE training.models SET resource_created_at = NULL WHERE ${ofResource} RETURNING id`,
    [namespace, crName],
  )
  return rows.map(({ id }) => id)
}

/** Hides a model whose resource is being deleted. */
export async function hideModel(connection: InvalidatingConnection, id: string): Promise<void> {
  await connection.query('UPDATE training.models SET hidden_at = now() WHERE id = $1 AND hidden_at IS NULL', [id])
}

const resourceColumns = pickColumns(modelColumns, 'namespace', 'crName')

type ModelResource = RowOf<typeof resourceColumns>

/** Lists the resources of visible models in these namespaces that were created. */
export async function listModelResources(pool: Pool, namespaces: readonly string[]): Promise<ModelResource[]> {
  const { rows } = await pool.query<ModelResource>(
    `SELECT ${selectColumns(resourceColumns, 'm')} FROM training.models m WHERE m.namespace = ANY ($1)
       AND m.hidden_at IS NULL AND m.deleted_at IS NULL AND m.resource_created_at IS NOT NULL`,
    [namespaces],
  )
  return rows
}

/** The resource of a model, by id. */
export async function findModelResource(pool: Pool, id: string): Promise<ModelResource | undefined> {
  const { rows } = await pool.query<ModelResource>(
    `SELECT ${selectColumns(resourceColumns, 'm')} FROM training.models m WHERE m.id = $1`,
    [id],
  )
  return rows[0]
}

/** The model that a TrainingJob resource names. */
export interface JobModel extends RowOf<typeof jobModelColumns> {
  /** False if its base model is gone. */
  served: boolean
}

const jobModelColumns = pickColumns(modelColumns, 'id', 'entity', 'baseModel')

/** Finds the model of a resource name, unless it is hidden or deleted. */
export async function findJobModel(pool: Pool, namespace: string, crName: string): Promise<JobModel | undefined> {
  const { rows } = await pool.query<JobModel>(
    `SELECT ${selectColumns(jobModelColumns, 'm')},
       EXISTS (SELECT 1 FROM training.base_models b WHERE b.name = m.base_model) AS served
     FROM training.models m WHERE m.namespace = $1 AND m.cr_name = $2 AND m.hidden_at IS NULL AND m.deleted_at IS NULL`,
    [namespace, crName],
  )
  return rows[0]
}
