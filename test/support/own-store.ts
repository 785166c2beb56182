import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { onTestFinished } from 'vitest'

/** A folder for one test. */
export async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'trainyard-backup-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** An empty store for one test. */
export async function makeStoreFolder(): Promise<string> {
  const store = path.join(await makeFolder(), 'artifacts')
  await mkdir(store, { mode: 0o700 })
  return store
}
