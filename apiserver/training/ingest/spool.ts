import { writeToStore } from '../../errors/write-to-store.ts'
import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '../../../lib/log.ts'
import { spoolSource } from '../../../artifacts/store/spool.ts'
import type { ArtifactStore } from '../../../artifacts/store/store.ts'
import type { StorageUse } from '../../accounts/limits/storage.ts'
import { openBody } from '../../../lib/http/body.ts'
import type { RequestContext } from '../../accounts/context.ts'

/** What spooling bodies needs. */
export interface SpoolDeps {
  artifacts: ArtifactStore
  bodyLimitBytes: number
  log: Logger
  storage: StorageUse
}

/** A body in its own file. */
export interface SpooledBody {
  file: string
  /** The SHA-256 of its bytes. */
  digest: Buffer
  size: number
}

/** Callbacks while a body arrives. */
interface Watch {
  /** Gets each chunk. An error stops the reading. */
  look: (chunk: Buffer) => Promise<void>
}

/**
 * Writes a request's body into a file as it arrives, no faster than the disk, and passes it to `work`. In any case the
 * file is removed afterwards, even if the client leaves, unless the store has adopted it.
 *
 * @throws {HttpError} 403 if the entity may not store so much, 413 and 415 as `openBody` does, 503 if the store cannot
 * be written, and what `look` throws
 */
export async function withSpooledBody<T>(
  deps: SpoolDeps,
  ctx: RequestContext,
  { look }: Watch,
  work: (body: SpooledBody) => Promise<T>,
): Promise<T> {
  const incoming = await deps.storage.receive(ctx)
  const count = async (chunk: Buffer) => {
    incoming.add(chunk.length)
    await look(chunk)
  }
  let file: string | undefined
  try {
    const maxBytes = deps.bodyLimitBytes
    const body = pace(watch(openBody(ctx, maxBytes), count))
    const spooled = await writeToStore(deps.log, 'body', () => spoolSource(deps.artifacts, body, { maxBytes }))
    file = spooled.file
    if (spooled.broken) throw spooled.broken
    return await work({ file, digest: Buffer.from(spooled.digest, 'hex'), size: spooled.size })
  } finally {
    if (file !== undefined) await rm(file, { force: true })
    incoming.release()
  }
}

/** The SHA-256 of a request's body. The body is not stored. @throws {HttpError} 413 and 415 as `openBody` does */
export async function digestBody(bodyLimitBytes: number, ctx: RequestContext): Promise<Buffer> {
  const hash = createHash('sha256')
  for await (const chunk of openBody(ctx, bodyLimitBytes)) hash.update(chunk)
  return hash.digest()
}

async function* watch(body: AsyncIterable<Buffer>, look: Watch['look']): AsyncIterable<Buffer> {
  for await (const chunk of body) {
    await look(chunk)
    yield chunk
  }
}

// Otherwise a body over a fast local network would leave little CPU time to other requests.
const stretchBytes = 1024 * 1024
const maxPauseMs = 10

/** Pauses after each stretch of a body for as long as the stretch took. */
async function* pace(body: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  let stretch = { bytes: 0, beganMs: performance.now() }
  for await (const chunk of body) {
    yield chunk
    stretch.bytes += chunk.length
    if (stretch.bytes < stretchBytes) continue
    await delay(Math.min(performance.now() - stretch.beganMs, maxPauseMs))
    stretch = { bytes: 0, beganMs: performance.now() }
  }
}
