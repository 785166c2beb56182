import { existsSync, readFileSync } from 'node:fs'
import { mkdir, readdir, rename, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { RestoreError } from '../../db/backup/load.ts'
import type { PartBackup } from '../../db/backup/catalog.ts'
import type { DatabasePart } from '../../db/migrate.ts'

/** What a finished backup says about itself. */
export interface Manifest {
  format: 1
  startedAt: string
  databases: Record<DatabasePart, PartBackup>
  artifacts: { objects: number; bytes: number }
  /** The names of the saved keys, such as webhook-key. */
  keys: string[]
}

/** The parts of a backup in its folder. */
export function backupPaths(folder: string) {
  const at = (...parts: string[]) => path.join(folder, ...parts)
  return {
    /** It is written last: without it, the backup is not finished. */
    manifest: at('backup.json'),
    database: (part: DatabasePart) => at('database', part),
    artifacts: at('artifacts'),
    /** A file for each key, named as in the Secret. */
    keys: at('keys'),
  }
}

/** @throws {RestoreError} if there is something in the folder */
export async function createBackupFolder(folder: string): Promise<void> {
  const paths = backupPaths(folder)
  if (existsSync(folder) && (await readdir(folder)).length > 0) {
    throw new RestoreError(`${folder} is not empty. Name a new folder for each backup.`)
  }
  for (const each of [folder, paths.database('main'), paths.database('tracing'), paths.artifacts, paths.keys]) {
    // It contains keys and data of all entities.
    await mkdir(each, { recursive: true, mode: 0o700 })
  }
}

export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  const { manifest: file } = backupPaths(folder)
  await writeFile(`${file}.tmp`, `${JSON.stringify(manifest, null, 2)}\n`, { flush: true })
  await rename(`${file}.tmp`, file)
}

/** @throws {RestoreError} if the folder has no finished backup that this version knows */
export function readManifest(folder: string): Manifest {
  const { manifest: file } = backupPaths(folder)
  if (!existsSync(file))
    throw new RestoreError(`${folder} has no backup, or one that was cut off: it has no backup.json.`)
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as Manifest
  if (manifest.format !== 1)
    throw new RestoreError('The backup was made by a later version. Restore it with that version.')
  return manifest
}
