import { unfinished } from '../jobs/states.ts'
import type { InvalidatingConnection } from '../changes.ts'
import { setAlias, deleteAlias } from '../models/aliases.ts'
import type { Connection } from '../pool.ts'
import { saveVersionFiles, saveVersionNotes, saveVersionOrigin, type CheckpointFileDigests } from './versions.ts'

/** A checkpoint that a client has made. Its files are in the store. */
export interface AddedCheckpoint {
  id: string
  modelId: string
  uri: string
  /** The SHA-256 of its manifest.json. */
  manifestDigest: string
  bytes: number
  files: readonly CheckpointFileDigests[]
  /** W&B's digest of its files. */
  digest: string
  metadata: Record<string, unknown>
  description: string | null
  /** The run that logged it, and the client's id of it. */
  runName: string | null
  clientId: string | null
  /** The numbers of its aliases `stepN`. */
  steps: number[]
  /** Its other aliases. */
  aliases: string[]
}

/**
 * Adds a checkpoint after all others of its model: with the highest number of its aliases `stepN`, if no checkpoint has
 * that number or a higher one and no running job will make it, and else with the next number. Aliases then name it,
 * also a `stepN` that is not its number. Returns its number, or undefined if the model was deleted. A repeated call
 * changes nothing.
 */
export async function addCheckpoint(
  connection: InvalidatingConnection,
  added: AddedCheckpoint,
): Promise<number | undefined> {
  const highest = await lockHighestStep(connection, added.modelId)
  if (highest === undefined) return undefined
  const known = await findStep(connection, added.id)
  if (known !== undefined) return known
  const wanted = Math.max(0, ...added.steps)
  const step = wanted > highest ? wanted : highest + 1
  await insertAdded(connection, added, step)
  await nameAdded(connection, added, step)
  return step
}

/** The highest step that the model has had, or that its unfinished job has reserved. Claims and reports wait. */
async function lockHighestStep(connection: Connection, modelId: string): Promise<number | undefined> {
  const { rows } = await connection.query<{ step: number }>(
    `SELECT last_step AS step FROM training.models
     WHERE id = $1 AND hidden_at IS NULL AND deleted_at IS NULL FOR UPDATE`,
    [modelId],
  )
  if (!rows[0]) return undefined
  const reserved = await connection.query<{ step: number | null }>(
    `SELECT max(greatest(step, reserved_step)) AS step FROM training.jobs WHERE model_id = $1 AND state ${unfinished}`,
    [modelId],
  )
  return Math.max(rows[0].step, reserved.rows[0]?.step ?? 0)
}

async function findStep(connection: Connection, id: string): Promise<number | undefined> {
  const { rows } = await connection.query<{ step: number }>('SELECT step FROM training.checkpoints WHERE id = $1', [id])
  return rows[0]?.step
}

async function insertAdded(connection: InvalidatingConnection, added: AddedCheckpoint, step: number): Promise<void> {
  const { id, modelId, uri, manifestDigest, bytes } = added
  await connection.query(
    `INSERT INTO training.checkpoints (id, model_id, step, uri, digest, metrics, bytes)
     VALUES ($1, $2, $3, $4, $5, '{}', $6)`,
    [id, modelId, step, uri, manifestDigest, bytes],
  )
  await connection.query('UPDATE training.models SET last_step = $2 WHERE id = $1', [modelId, step])
  await saveVersionFiles(connection, id, added)
  const { metadata, description } = added
  const notes = { metadata, description: description ?? undefined, tagsToAdd: [], tagsToDelete: [] }
  await saveVersionNotes(connection, id, notes)
  await saveVersionOrigin(connection, id, added)
}

async function nameAdded(
  connection: InvalidatingConnection,
  { modelId, steps, aliases }: AddedCheckpoint,
  step: number,
) {
  for (const alias of aliases) await setAlias(connection, modelId, alias, step)
  for (const each of steps) await nameStep(connection, modelId, each, step)
}

/** Lets `stepN` name a checkpoint, which may have another number. */
export async function nameStep(
  connection: InvalidatingConnection,
  modelId: string,
  named: number,
  step: number,
): Promise<boolean> {
  const alias = `step${named}`
  if (named === step) return deleteAlias(connection, modelId, alias)
  return (await setAlias(connection, modelId, alias, step)) !== undefined
}
