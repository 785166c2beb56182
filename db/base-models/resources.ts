import type { JobMode } from '../../crds/manifests.ts'
import type { TrainedOn } from '../../crds/trained-on.ts'
import { withTransaction, type Connection, type Pool } from '../pool.ts'
import { recordSource, type SourceConflict } from './sources.ts'

interface RegisteredBaseModel {
  namespace: string
  crName: string
  /** The first is the canonical one. */
  names: string[]
  /** Whether it answers chats that name no model. */
  isDefault: boolean
  /** When the resource was created. */
  createdAt: Date
  trainedOn: TrainedOn
  /** The maximum rank of its adapters. */
  maxLoraRank: number
  /** The trainer mode of jobs that name none. */
  defaultMode: JobMode
  /** Whether the administrator says that other weights of an earlier base model of this name are the same. */
  replacesSource: boolean
}

/** A name that two base models claim, and the resource that has it. */
export interface NameConflict {
  name: string
  holder: string
}

/** Why a base model was not registered. */
export interface RegistrationConflict {
  taken?: NameConflict
  /** Its models were trained on something else. */
  source?: SourceConflict
}

/**
 * Registers a base model under its names, for the apiserver. Of several resources that claim a name, the oldest has it:
 * if that is another one, returns the conflict and changes nothing. A younger one that was seen first loses the name. A
 * base model whose models were trained on something else is not registered.
 */
export async function registerBaseModel(
  pool: Pool,
  baseModel: RegisteredBaseModel,
): Promise<RegistrationConflict | undefined> {
  if (await isRegistered(pool, baseModel)) return undefined
  return withTransaction(pool, async (connection) => {
    // Two registrations at once would not see each other.
    await connection.query('LOCK TABLE training.base_models IN SHARE ROW EXCLUSIVE MODE')
    const rivals = await listRivals(connection, baseModel)
    const older = rivals.find((rival) => rival.isOlder)
    if (older) {
      const name = baseModel.names.find((each) => older.names.includes(each)) ?? ''
      return { taken: { name, holder: older.crName } }
    }
    const replaces = baseModel.replacesSource || (await isSameResource(connection, baseModel))
    const source = await recordSource(connection, { ...baseModel, name: baseModel.names[0] ?? '', replaces })
    if (source) {
      await removeRow(connection, baseModel)
      return { source }
    }
    await takeNames(connection, baseModel)
    await writeBaseModel(connection, baseModel)
    return undefined
  })
}

/** Whether a base model is registered as it is, and no other one has a name of it. */
async function isRegistered(pool: Pool, baseModel: RegisteredBaseModel): Promise<boolean> {
  const { namespace, crName, names, isDefault, createdAt, trainedOn, maxLoraRank, defaultMode } = baseModel
  const { rowCount } = await pool.query(
    `SELECT FROM training.base_models b
     WHERE namespace = $1 AND cr_name = $2 AND names = $3::text[] AND is_default = $4 AND created_at = $5
       AND max_lora_rank = $7 AND default_mode = $8
       AND EXISTS (SELECT FROM training.base_model_sources s WHERE s.name = b.name AND s.trained_on = $6)
       AND NOT EXISTS (SELECT FROM training.base_models o WHERE o.names && b.names AND o.name <> b.name)`,
    [namespace, crName, names, isDefault, createdAt, trainedOn, maxLoraRank, defaultMode],
  )
  return rowCount === 1
}

/** The source and lora of one resource never change. A newer schema may have given them another default value. */
async function isSameResource(connection: Connection, baseModel: RegisteredBaseModel): Promise<boolean> {
  const { namespace, crName, names, createdAt } = baseModel
  const { rowCount } = await connection.query(
    'SELECT FROM training.base_models WHERE namespace = $1 AND cr_name = $2 AND name = $3 AND created_at = $4',
    [namespace, crName, names[0], createdAt],
  )
  return rowCount === 1
}

interface Rival {
  crName: string
  names: string[]
  isOlder: boolean
}

/** Lists the other base models with one of the names, the oldest first. Kubernetes' times have whole seconds. */
async function listRivals(connection: Connection, baseModel: RegisteredBaseModel): Promise<Rival[]> {
  const { namespace, crName, names, createdAt } = baseModel
  const { rows } = await connection.query<Rival>(
    `SELECT cr_name AS "crName", names, (created_at, cr_name) < ($4::timestamptz, $2::text) AS "isOlder"
     FROM training.base_models WHERE names && $3 AND NOT (namespace = $1 AND cr_name = $2)
     ORDER BY created_at, cr_name`,
    [namespace, crName, names, createdAt],
  )
  return rows
}

/** Takes the names from younger base models. One that loses its canonical name is not served until its next check. */
async function takeNames(connection: Connection, { namespace, crName, names }: RegisteredBaseModel): Promise<void> {
  const others = 'NOT (namespace = $1 AND cr_name = $2)'
  await connection.query(`DELETE FROM training.base_models WHERE name = ANY ($3) AND ${others}`, [
    namespace,
    crName,
    names,
  ])
  await connection.query(
    `UPDATE training.base_models SET updated_at = now(),
       names = ARRAY(SELECT n FROM unnest(names) WITH ORDINALITY AS u (n, i) WHERE n <> ALL ($3) ORDER BY i)
     WHERE names && $3 AND ${others}`,
    [namespace, crName, names],
  )
}

async function writeBaseModel(connection: Connection, baseModel: RegisteredBaseModel): Promise<void> {
  const { namespace, crName, names, isDefault, createdAt, maxLoraRank, defaultMode } = baseModel
  await connection.query(
    `INSERT INTO training.base_models AS b (name, names, namespace, cr_name, is_default, created_at, max_lora_rank, default_mode)
     VALUES ($3, $4, $1, $2, $5, $6, $7, $8)
     ON CONFLICT (namespace, cr_name)
     DO UPDATE SET name = $3, names = $4, is_default = $5, created_at = $6, max_lora_rank = $7, default_mode = $8,
       updated_at = now()
     WHERE (b.names, b.is_default, b.created_at, b.max_lora_rank, b.default_mode)
       IS DISTINCT FROM ($4::text[], $5::boolean, $6::timestamptz, $7::integer, $8::text)`,
    [namespace, crName, names[0], names, isDefault, createdAt, maxLoraRank, defaultMode],
  )
}

/** The canonical name of the base model that a resource registered. */
export async function findRegisteredName(pool: Pool, namespace: string, crName: string): Promise<string | undefined> {
  const { rows } = await pool.query<{ name: string }>(
    'SELECT name FROM training.base_models WHERE namespace = $1 AND cr_name = $2',
    [namespace, crName],
  )
  return rows[0]?.name
}

/** Removes a base model whose resource is gone. The rows of its models stay. Returns true if it was registered. */
export async function unregisterBaseModel(pool: Pool, namespace: string, crName: string): Promise<boolean> {
  return removeRow(pool, { namespace, crName })
}

async function removeRow(
  connection: Connection,
  { namespace, crName }: Pick<RegisteredBaseModel, 'namespace' | 'crName'>,
): Promise<boolean> {
  const { rowCount } = await connection.query(
    'DELETE FROM training.base_models WHERE namespace = $1 AND cr_name = $2',
    [namespace, crName],
  )
  return rowCount === 1
}

/** Lists the resource names of the registered base models of a namespace. */
export async function listRegisteredBaseModels(pool: Pool, namespace: string): Promise<string[]> {
  const { rows } = await pool.query<{ crName: string }>(
    'SELECT cr_name AS "crName" FROM training.base_models WHERE namespace = $1',
    [namespace],
  )
  return rows.map((row) => row.crName)
}
