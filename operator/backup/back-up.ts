import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createArtifactStore } from '../../artifacts/store/create-store.ts'
import { openSnapshot } from '../../db/backup/dump.ts'
import { createPool, type Pool } from '../../db/pool.ts'
import { pauseRemoval, resumeRemoval } from '../../db/store/installation.ts'
import { repeat } from '../../lib/repeat.ts'
import { maxCheckAgeMs } from '../gc/guard.ts'
import { backupPaths, createBackupFolder, writeManifest, type Manifest } from './backup-folder.ts'
import type { Installation } from './config.ts'
import { copyStore } from './copy-store.ts'

// A pause lasts ten minutes.
const pauseAgainMs = 60_000
// A removal that has begun is one object, or the few of a checkpoint.
const removalMs = 5_000

/**
 * Backs up an installation while it works. Nothing is removed from the store meanwhile. An object is stored before its
 * row is written. So the objects that the rows of a snapshot point at are there until they are copied.
 *
 * @throws {RestoreError} if the folder is not empty
 */
export async function backUp(installation: Installation, folder: string): Promise<Manifest> {
  const { databases, log } = installation
  await createBackupFolder(folder)
  const pool = createPool({ url: databases.main }, log, 1)
  try {
    return await whilePaused(pool, installation, () => writeBackup(installation, folder))
  } finally {
    await resumeRemoval(pool).catch((error: unknown) => log.warn({ error }, 'removals go on in ten minutes'))
    await pool.end()
  }
}

async function whilePaused<T>(pool: Pool, { log, say }: Installation, work: () => Promise<T>): Promise<T> {
  await pauseRemoval(pool)
  const stop = new AbortController()
  const pausing = repeat(() => pauseRemoval(pool), {
    pauseMs: pauseAgainMs,
    pauseFirst: true,
    signal: stop.signal,
    onError: (error) => log.warn({ error }, 'the pause of removals was not extended'),
  })
  try {
    say('waiting until the operator removes nothing from the store')
    await delay(maxCheckAgeMs + removalMs)
    return await work()
  } finally {
    stop.abort()
    await pausing
  }
}

async function writeBackup(installation: Installation, folder: string): Promise<Manifest> {
  const { artifacts, keys, say } = installation
  const paths = backupPaths(folder)
  const startedAt = new Date().toISOString()
  for (const [name, value] of Object.entries(keys)) {
    await writeFile(path.join(paths.keys, name), value, { flag: 'wx', mode: 0o600 })
  }
  say('copying the database')
  const written = await writeDatabases(installation, folder)
  say('copying the artifact store')
  const copied = await copyStore(artifacts, await createArtifactStore(path.resolve(paths.artifacts)))
  const manifest: Manifest = { format: 1, startedAt, databases: written, artifacts: copied, keys: Object.keys(keys) }
  await writeManifest(folder, manifest)
  return manifest
}

/** Both snapshots are from before the first object is copied. */
async function writeDatabases({ databases }: Installation, folder: string): Promise<Manifest['databases']> {
  const paths = backupPaths(folder)
  const main = await openSnapshot(databases.main)
  try {
    const tracing = await openSnapshot(databases.tracing)
    try {
      return {
        main: await main.write('main', paths.database('main')),
        tracing: await tracing.write('tracing', paths.database('tracing')),
      }
    } finally {
      await tracing.close()
    }
  } finally {
    await main.close()
  }
}
