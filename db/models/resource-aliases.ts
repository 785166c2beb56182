import type { InvalidatingConnection } from '../changes.ts'
import type { Connection } from '../pool.ts'
import { deleteAlias, setAlias } from './aliases.ts'

/**
 * Applies the changes of a resource's aliases since the last call. The rows are authoritative: an alias that was moved
 * over REST stays until the resource changes it. An alias of a step that does not exist yet is applied later.
 */
export async function applyResourceAliases(
  connection: InvalidatingConnection,
  modelId: string,
  wanted: Record<string, number>,
): Promise<void> {
  const applied = await lockApplied(connection, modelId)
  for (const alias of Object.keys(applied)) {
    if (wanted[alias] !== undefined) continue
    await deleteAlias(connection, modelId, alias)
    delete applied[alias]
  }
  for (const [alias, step] of Object.entries(wanted)) {
    if (applied[alias] === step) continue
    if (await setAlias(connection, modelId, alias, step)) applied[alias] = step
  }
  await connection.query('UPDATE training.models SET resource_aliases = $2 WHERE id = $1', [
    modelId,
    JSON.stringify(applied),
  ])
}

async function lockApplied(connection: Connection, modelId: string): Promise<Record<string, number>> {
  const { rows } = await connection.query<{ applied: Record<string, number> }>(
    'SELECT resource_aliases AS applied FROM training.models WHERE id = $1 FOR UPDATE',
    [modelId],
  )
  return rows[0]?.applied ?? {}
}
