import { writeToStore } from '../../errors/write-to-store.ts'
import { createHash } from 'node:crypto'
import { open, rm, type FileHandle } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '../../../lib/log.ts'
import type { ArtifactStore } from '../../../artifacts/store/store.ts'
import type { StorageUse } from '../../accounts/limits/storage.ts'
import { openBody } from '../../../lib/http/body.ts'
import type { RequestContext } from '../../accounts/context.ts'

/** What bodies are spooled with. */
export interface SpoolDeps {
  artifacts: ArtifactStore
  bodyLimitBytes: number
  log: Logger
  storage: StorageUse
}

/** A body in a file of its own. */
export interface SpooledBody {
  file: string
  /** sha256 of its bytes. */
  digest: Buffer
  size: number
}

/** What is done while a body comes in. */
interface Watch {
  /** Gets each chunk; what it throws ends the reading. */
  look: (chunk: Buffer) => Promise<void>
}

/**
 * Writes a request's body into a file as it comes in, no faster than the disk takes it, and gives it to `work`. However
 * that ends, and if the client leaves meanwhile, the file is gone afterwards, unless the store has adopted it.
 *
 * @throws {HttpError} 403 when the entity may not store so much, 413 and 415 as `openBody` does, 503 when the store takes no
 * writes, and what `look` throws
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
    const place = await writeToStore(deps.log, 'body', () => deps.artifacts.spoolPath())
    file = place
    const handle = await writeToStore(deps.log, 'body', () => open(place, 'wx'))
    const body = openBody(ctx, deps.bodyLimitBytes)
    const written = await writeAll(deps.log, handle, watch(body, count))
    incoming.end()
    return await work({ file, ...written })
  } finally {
    if (file !== undefined) await rm(file, { force: true })
    incoming.release()
  }
}

/** sha256 of a request's body, which is written nowhere. @throws {HttpError} 413 and 415 as `openBody` does */
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

// What comes in as fast as a local network brings it would leave other requests little of the processor.
const turnBytes = 1024 * 1024
const maxPauseMs = 10

async function writeAll(log: Logger, handle: FileHandle, body: AsyncIterable<Buffer>) {
  const hash = createHash('sha256')
  let size = 0
  let turn = { endsAt: turnBytes, beganMs: performance.now() }
  try {
    for await (const chunk of body) {
      hash.update(chunk)
      size += chunk.length
      await writeToStore(log, 'body', () => handle.writeFile(chunk))
      if (size < turn.endsAt) continue
      // Others get as much time as this took.
      await delay(Math.min(performance.now() - turn.beganMs, maxPauseMs))
      turn = { endsAt: size + turnBytes, beganMs: performance.now() }
    }
  } finally {
    await handle.close()
  }
  return { digest: hash.digest(), size }
}
