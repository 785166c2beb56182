import { FairSemaphore, PermitTimeout } from '../../../lib/fair-semaphore.ts'
import { HttpError, notFound } from '../../../lib/http/http-error.ts'
import { jsonInvalid, openBody } from '../../../lib/http/body.ts'
import { cleanJson } from '../../../lib/json/clean.ts'
import { JsonError } from '../../../lib/json/parse.ts'
import { readJsonInTurns, type Reserve } from '../../../lib/json/read-json.ts'
import type { RunName } from '../../../db/runs/table.ts'
import { writeRun } from '../../../db/runs/write-lines.ts'
import type { Pool } from '../../../db/pool.ts'
import type { RequestContext } from '../../accounts/context.ts'
import type { RequestMemory } from '../../accounts/limits/request-memory.ts'
import type { StorageUse } from '../../accounts/limits/storage.ts'
import { turnOf } from '../../accounts/limits/turn.ts'
import { errors } from '../../errors/table.ts'
import { readFileStream } from './read-body.ts'

export interface FileStreamDeps {
  memory: RequestMemory
  pool: Pool
  storage: StorageUse
}

// SDKs send at most 10 MiB of lines at once, which are texts in a text here.
export const fileStreamLimitBytes = 32 * 1024 * 1024

// Other requests must still get connections to the database, and so must other entities here.
const writing = new FairSemaphore({ permits: 4, permitsPerKey: 3 })
// Clients send again after a 429, and lose the rest of a run after any other status below 500.
const maxWaitMs = 20_000

/** Receives what a client sends about its run, and writes it. */
export async function receiveFileStream(deps: FileStreamDeps, ctx: RequestContext, name: RunName) {
  const incoming = await deps.storage.receiveTraces(ctx)
  try {
    const held = deps.memory.open(ctx)
    const bytes = cleanJson(await held.read(openBody(ctx, fileStreamLimitBytes)))
    incoming.add(bytes.length)
    const write = await readFileStream(await parseBody(bytes, (size) => held.add(size)))
    const written = await takeTurn(ctx, () => writeRun(deps.pool, name, write))
    if (!written) throw notFound('Run', name.name)
    deps.storage.record(name.entity, written.bytes)
    return { exitcode: write.exit?.code ?? null, limits: {}, ...(written.stopping && { stopped: true }) }
  } finally {
    incoming.release()
  }
}

/** @throws {HttpError} 422 when it is not JSON */
async function parseBody(bytes: Buffer, reserve: Reserve): Promise<unknown> {
  try {
    return await readJsonInTurns(bytes, [], reserve)
  } catch (error) {
    if (error instanceof JsonError) throw jsonInvalid(new JsonError(error.message))
    throw error
  }
}

async function takeTurn<T>({ state }: RequestContext, work: () => Promise<T>): Promise<T> {
  const release = await writing.acquire({ ...turnOf(state.caller), timeoutMs: maxWaitMs }).catch((error: unknown) => {
    if (!(error instanceof PermitTimeout)) throw error
    const detail = 'Too many runs write at once. Send this request again.'
    throw new HttpError(errors.concurrency_limit_exceeded, detail, { retryAfterSeconds: 5 })
  })
  try {
    return await work()
  } finally {
    release()
  }
}
