import { HttpError } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'
import { writeToStore } from '../../errors/write-to-store.ts'
import { rm } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { insertBlob, renewBlob, type Blob } from '../../../db/artifacts/blobs.ts'
import { whileHoldingKey } from '../../../db/store/held-keys.ts'
import { keyOf } from '../../../artifacts/layout.ts'
import { SourceTooLarge, spoolSource, type Spooled } from '../../../artifacts/store/spool.ts'
import type { Logger } from '../../../lib/log.ts'
import type { ArtifactStore } from '../../../artifacts/store/store.ts'
import type { BodyChecker } from '../ingest/body-checker.ts'
import type { RequestMemory } from '../../accounts/limits/request-memory.ts'
import { requireStorage, type LimitDeps } from '../../accounts/limits/service.ts'

/** What spooling uploads needs. */
export interface SpoolDeps {
  artifacts: ArtifactStore
  log: Logger
  uploadLimitBytes: number
}

/** What storing blobs needs. */
export interface BlobDeps extends LimitDeps {
  artifacts: ArtifactStore
  log: Logger
}

/** What receiving blobs needs. */
export interface BlobUploadDeps extends BlobDeps, SpoolDeps {}

/** What receiving and reading versions needs. */
export interface ArtifactDeps extends BlobUploadDeps {
  bodies: BodyChecker
  memory: RequestMemory
}

/**
 * Spools an upload into a local file. `count` gets the number of bytes as they arrive.
 *
 * @throws {HttpError} 413 if it is too large, 503 if the store cannot be written, and what `count` throws
 */
export function spoolUpload(
  deps: SpoolDeps,
  source: Readable,
  bounds: { maxBytes: number; count?: (bytes: number, chunk: Uint8Array) => void },
): Promise<Spooled> {
  return writeToStore(deps.log, 'upload', async () => {
    try {
      return await spoolSource(deps.artifacts, source, bounds)
    } catch (error) {
      throw error instanceof SourceTooLarge ? uploadTooLarge(deps.uploadLimitBytes) : error
    }
  })
}

/** Stores a spooled file under its digest and records it. @throws {HttpError} 403 if the entity has no room */
export async function keepBlob(deps: BlobDeps, entity: string, spooled: Spooled): Promise<Blob> {
  const { digest, size } = spooled
  const key = keyOf('blob', { entity, object: digest })
  await whileHoldingKey({ pool: deps.pool, schema: 'training' }, key, {
    store: () => storeBlob(deps, entity, { ...spooled, key }),
    commit: async (isNew) => {
      if (!isNew) return
      await insertBlob(deps.pool, entity, { digest, size })
      deps.storage.record(entity, size)
    },
  })
  return { digest, size }
}

/** Returns whether the file was stored. Otherwise it is there. */
async function storeBlob(deps: BlobDeps, entity: string, spooled: Spooled & { key: string }): Promise<boolean> {
  const { file, key, digest, size } = spooled
  const known = await renewBlob(deps.pool, entity, { digest, size })
  if (known !== undefined) {
    // A process that was removing the file may have died before it removed the row.
    if (await writeToStore(deps.log, 'upload', () => deps.artifacts.stat(known))) {
      await rm(file, { force: true })
      return false
    }
  } else await requireRoom(deps, entity, spooled)
  await writeToStore(deps.log, 'upload', () => deps.artifacts.adopt(key, file, { digest, size }))
  return true
}

async function requireRoom(deps: LimitDeps, entity: string, { file, size }: Spooled): Promise<void> {
  try {
    await requireStorage(deps, entity, size)
  } catch (error) {
    await rm(file, { force: true })
    throw error
  }
}

export function uploadTooLarge(uploadLimitBytes: number): HttpError {
  const detail = `The upload is larger than ${uploadLimitBytes} bytes.`
  return new HttpError(errors.body_too_large, detail, { headers: { Connection: 'close' } })
}
