import { rm } from 'node:fs/promises'
import { locateBlob } from '../../../db/artifacts/blobs.ts'
import type { ArtifactFile } from '../../../db/artifacts/versions.ts'
import type { Pool } from '../../../db/pool.ts'
import { trainingFiles } from '../../../artifacts/inputs/resolve.ts'
import { StoreFailed } from '../../../artifacts/store/failed.ts'
import { ArtifactMissing } from '../../../artifacts/store/missing.ts'
import type { Spooled } from '../../../artifacts/store/spool.ts'
import type { BodyChecker } from '../ingest/body-checker.ts'
import { spoolUpload, type SpoolDeps } from './store-files.ts'

/** What checking stored files needs. */
interface CheckDeps extends SpoolDeps {
  bodies: BodyChecker
  pool: Pool
}

/** The values of `?check`: how an upload's files are checked. Undefined: it depends on their names. */
export type DataCheck = 'sft' | 'none' | undefined

/** Checks a received file. @throws {HttpError} 422 with the invalid lines of SFT data */
export async function checkData(
  bodies: BodyChecker,
  { path, spooled }: { path: string; spooled: Spooled },
  check: DataCheck,
): Promise<void> {
  if (isSftData(path, check)) await bodies.checkSft({ file: spooled.file, size: spooled.size, path })
}

/** Checks files that are already stored. A missing file is rejected when its version is created. */
export async function checkStoredData(
  deps: CheckDeps,
  { entity, files }: { entity: string; files: ArtifactFile[] },
  check: DataCheck,
): Promise<void> {
  const wanted = new Map(files.filter((file) => isSftData(file.path, check)).map((file) => [file.digest, file.path]))
  for (const [digest, path] of wanted) {
    const spooled = await copyStored(deps, await locateBlob(deps.pool, entity, digest))
    try {
      if (spooled) await checkData(deps.bodies, { path, spooled }, check)
    } finally {
      if (spooled) await rm(spooled.file, { force: true })
    }
  }
}

async function copyStored(deps: SpoolDeps, key: string): Promise<Spooled | undefined> {
  try {
    const stored = await deps.artifacts.open(key)
    const spooled = await spoolUpload(deps, stored, { maxBytes: deps.uploadLimitBytes })
    if (!spooled.broken) return spooled
    await rm(spooled.file, { force: true })
    throw new StoreFailed('reading a stored file', { cause: spooled.broken })
  } catch (error) {
    if (error instanceof ArtifactMissing) return undefined
    throw error
  }
}

function isSftData(path: string, check: DataCheck | undefined): boolean {
  return check === undefined ? trainingFiles.includes(path) : check === 'sft'
}
