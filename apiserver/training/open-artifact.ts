import { notFound } from '../../lib/http/http-error.ts'
import type { Readable } from 'node:stream'
import { ArtifactMissing } from '../../artifacts/store/missing.ts'
import type { ArtifactStore } from '../../artifacts/store/store.ts'
import type { ByteRange } from '../../lib/http/ranges.ts'

/** Opens a stored file. @throws {HttpError} 404 if the store does not have it, or not any more */
export async function openArtifact(artifacts: ArtifactStore, key: string, range?: ByteRange): Promise<Readable> {
  try {
    return await artifacts.open(key, range)
  } catch (error) {
    throw error instanceof ArtifactMissing ? notFound('File') : error
  }
}
