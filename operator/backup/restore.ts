import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { createArtifactStore } from '../../artifacts/store/create-store.ts'
import { loadPart, requireEmptyPart, RestoreError } from '../../db/backup/load.ts'
import { createPool } from '../../db/pool.ts'
import { readInstallation, resumeRemoval } from '../../db/store/installation.ts'
import { StoreSigns } from '../gc/signs.ts'
import { backupPaths, readManifest, type Manifest } from './backup-folder.ts'
import type { Installation } from './config.ts'
import { copyStore } from './copy-store.ts'

const parts = ['main', 'tracing'] as const

/**
 * Restores a backup into an empty database and an empty store, before anything else uses them. It can be repeated in new
 * ones after a failure.
 *
 * @throws {RestoreError} if the backup cannot be restored, or not here
 */
export async function restore(installation: Installation, folder: string): Promise<Manifest> {
  const { databases, artifacts, log, say } = installation
  const manifest = readManifest(folder)
  const paths = backupPaths(folder)
  for (const part of parts) await requireEmptyPart(databases[part], part)
  for await (const { key } of artifacts.list('')) {
    throw new RestoreError(`The artifact store is not empty: it has ${key}. Restore into a new, empty store.`)
  }
  say('copying the artifact store')
  const copied = await copyStore(await createArtifactStore(path.resolve(paths.artifacts)), artifacts)
  requireAll(manifest, copied)
  for (const part of parts) {
    say(`copying the database, part ${part}`)
    await loadPart({ url: databases[part], part, log }, manifest.databases[part], paths.database(part))
  }
  await signStore(installation)
  return manifest
}

function requireAll({ artifacts: wanted }: Manifest, copied: Manifest['artifacts']): void {
  if (copied.objects === wanted.objects && copied.bytes === wanted.bytes) return
  throw new RestoreError(
    `The backup is damaged: it has ${copied.objects} objects with ${copied.bytes} bytes instead of ${wanted.objects} with ${wanted.bytes}.`,
  )
}

/**
 * Gives the store a mark that the database does not know, as after each restore: nothing is removed until somebody has
 * looked at it and claims the store.
 */
async function signStore({ databases, artifacts, log }: Installation): Promise<void> {
  const pool = createPool({ url: databases.main }, log, 1)
  try {
    // The snapshot is from the time of its backup.
    await resumeRemoval(pool)
    const { id } = await readInstallation(pool)
    await new StoreSigns(artifacts, id).write({ mark: randomUUID() })
  } finally {
    await pool.end()
  }
}
