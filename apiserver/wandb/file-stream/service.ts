import { notFound } from '../../../lib/http/http-error.ts'
import { jsonInvalid, linger, openBody } from '../../../lib/http/body.ts'
import { cleanJson } from '../../../lib/json/clean.ts'
import { JsonError } from '../../../lib/json/parse.ts'
import { readJsonInTurns, type Reserve } from '../../../lib/json/read-json.ts'
import type { RunName } from '../../../db/runs/table.ts'
import { writeRun, type RunWrite } from '../../../db/runs/write-lines.ts'
import type { Pool } from '../../../db/pool.ts'
import type { RequestContext } from '../../accounts/context.ts'
import type { IncomingBytes } from '../../accounts/limits/incoming-bytes.ts'
import type { RequestMemory } from '../../accounts/limits/request-memory.ts'
import type { StorageUse } from '../../accounts/limits/storage.ts'
import { retryWhenFull } from '../retry-when-full.ts'
import { readFileStream } from './read-body.ts'

export interface FileStreamDeps {
  memory: RequestMemory
  pool: Pool
  storage: StorageUse
}

// SDKs send at most 10 MiB of lines at once, which are texts in a text here.
export const fileStreamLimitBytes = 32 * 1024 * 1024

// A larger body has lines. A smaller one may only say that the run goes on, or has ended, which stores nothing.
const smallBytes = 4 * 1024
// The texts of a body, those of its lines, and those of the statement that writes them.
const copies = 3

/**
 * Receives what a client sends about its run, and writes it. If the entity is full, lines wait at the client.
 *
 * @throws {HttpError} 429 for whatever may be over later: other errors end the stream of a run
 */
export function receiveFileStream(deps: FileStreamDeps, ctx: RequestContext, name: RunName) {
  return retryWhenFull(async () => {
    const { length } = ctx.request
    const early = length !== undefined && length <= smallBytes ? undefined : await admit(deps, ctx, length ?? 0)
    try {
      return await receive(deps, ctx, { name, early })
    } finally {
      early?.release()
    }
  })
}

async function admit(deps: FileStreamDeps, ctx: RequestContext, bytes: number): Promise<IncomingBytes> {
  const { caller, limits } = ctx.state
  try {
    return await deps.storage.admitTraces({ entity: caller.entity, limit: limits.storedBytes, announced: bytes })
  } catch (error) {
    linger(ctx)
    throw error
  }
}

async function receive(
  deps: FileStreamDeps,
  ctx: RequestContext,
  { name, early }: { name: RunName; early: IncomingBytes | undefined },
) {
  const held = deps.memory.open(ctx)
  const reserve: Reserve = (size) => held.add(size)
  const bytes = cleanJson(await held.read(openBody(ctx, fileStreamLimitBytes)))
  early?.add(bytes.length)
  reserve(bytes.length * copies)
  const write = await readFileStream(await parseBody(bytes, reserve), reserve)
  const late = early || !hasLines(write) ? undefined : await admit(deps, ctx, bytes.length)
  try {
    const written = await writeRun(deps.pool, name, write)
    if (!written) throw notFound('Run', name.name)
    deps.storage.record(name.entity, written.bytes)
    return { exitcode: write.exit?.code ?? null, limits: {}, ...(written.stopping && { stopped: true }) }
  } finally {
    late?.release()
  }
}

function hasLines({ blocks, summary }: RunWrite): boolean {
  return summary !== undefined || blocks.some(({ lines }) => lines.length > 0)
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
