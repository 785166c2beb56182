import { randomUUID } from 'node:crypto'
import { keyOf } from '../../../artifacts/layout.ts'
import {
  insertStreamedBlob,
  renewBlob,
  replaceBlobObject,
  type Blob,
  type StreamedBlob,
} from '../../../db/artifacts/blobs.ts'
import { whileHoldingKey } from '../../../db/store/held-keys.ts'
import { isDatabaseUnavailable } from '../../../db/unavailable.ts'
import { requireStorage } from '../../accounts/limits/service.ts'
import { writeToStore } from '../../errors/write-to-store.ts'
import type { ExactTarget } from './exact-body.ts'
import type { BlobDeps } from './store-files.ts'

/** What is known of a file before its bytes arrive. Its digest is not. */
export interface ExpectedFile {
  entity: string
  size: number
  /** In hex. */
  md5: string
}

/**
 * Stores a file whose digest is known after its last byte: `put` writes it under a key of its own. An equal file of the
 * entity stays, and the new one is dropped.
 *
 * @throws {HttpError} 403 if the entity has no room, and what `put` throws
 */
export async function keepStreamed(
  deps: BlobDeps,
  { entity, size, md5 }: ExpectedFile,
  put: (target: ExactTarget) => Promise<{ digest: string }>,
): Promise<Blob> {
  const object = randomUUID()
  const key = keyOf('blob', { entity, object })
  return whileHoldingKey({ pool: deps.pool, schema: 'training' }, key, {
    store: () => put({ key, size, md5 }),
    commit: async ({ digest }) => {
      const isNeeded = await record(deps, entity, { digest, size, md5, object }).catch(async (error: unknown) => {
        // Its row may be there anyway.
        if (!isDatabaseUnavailable(error)) await deps.artifacts.remove(key)
        throw error
      })
      if (!isNeeded) await writeToStore(deps.log, 'upload', () => deps.artifacts.remove(key))
      return { digest, size }
    },
  })
}

/** Returns whether the object is the one of its file from now on. */
async function record(deps: BlobDeps, entity: string, blob: StreamedBlob): Promise<boolean> {
  const known = await renewBlob(deps.pool, entity, blob)
  if (known === undefined) {
    await requireStorage(deps, entity, blob.size)
    if (!(await insertStreamedBlob(deps.pool, entity, blob))) return false
    deps.storage.record(entity, blob.size)
    return true
  }
  // A process that was removing the file may have died before it removed the row.
  if (await writeToStore(deps.log, 'upload', () => deps.artifacts.stat(known))) return false
  await replaceBlobObject(deps.pool, entity, blob)
  return true
}
