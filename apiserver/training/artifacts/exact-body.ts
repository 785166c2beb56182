import type { Readable } from 'node:stream'
import { WrongDigest } from '../../../artifacts/store/wrong-digest.ts'
import type { StoredArtifact } from '../../../artifacts/store/store.ts'
import { HttpError } from '../../../lib/http/http-error.ts'
import { tapStream } from '../../../lib/tap.ts'
import type { IncomingBytes } from '../../accounts/limits/incoming-bytes.ts'
import { errors } from '../../errors/table.ts'
import { writeToStore } from '../../errors/write-to-store.ts'
import type { BlobDeps } from './store-files.ts'
import { truncatedBody } from './upload.ts'

/** Where bytes go in the store, and what is known about them. */
export interface ExactTarget {
  key: string
  size: number
  /** In hex. */
  md5: string
}

/**
 * Stores a body as it arrives. Nothing of it is on the local disk, and little is in memory.
 *
 * @throws {HttpError} 400 if it ends too early or has another MD5, 403 if the entity has no room, 503
 */
export async function storeBody(
  { artifacts, log }: Pick<BlobDeps, 'artifacts' | 'log'>,
  { body, incoming }: { body: Readable; incoming: IncomingBytes },
  target: ExactTarget,
): Promise<StoredArtifact> {
  const source = new CountedBody(body, incoming)
  return writeToStore(log, 'upload', () => putExact(artifacts, source.stream, target)).catch((error: unknown) => {
    throw source.error ?? error
  })
}

/** Stores bytes that should have an MD5. @throws {HttpError} 400 if they have another */
export async function putExact(
  artifacts: BlobDeps['artifacts'],
  source: AsyncIterable<Uint8Array>,
  { key, size, md5 }: ExactTarget,
): Promise<StoredArtifact> {
  try {
    return await artifacts.putExact(key, source, { size, md5 })
  } catch (error) {
    throw error instanceof WrongDigest ? wrongDigest(md5) : error
  }
}

export function wrongDigest(md5: string): HttpError {
  return new HttpError(errors.bad_request, `The body does not have the MD5 ${md5}. Nothing was stored.`)
}

/** A body whose bytes count while they are read. Stores hide why their source failed, so this keeps the reason. */
class CountedBody {
  readonly stream: Readable
  error: HttpError | undefined

  constructor(body: Readable, incoming: IncomingBytes) {
    // The connection stays open, because the answer must still be sent.
    this.stream = tapStream(body, { observe: ({ length }) => incoming.add(length), keepSource: true })
    this.stream.once('error', (error) => (this.error = error instanceof HttpError ? error : truncatedBody()))
  }
}
