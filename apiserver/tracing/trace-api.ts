import { HttpError, unprocessable } from '../../lib/http/http-error.ts'
import { tooLarge } from './errors.ts'
import type { Router } from '@koa/router'
import type { TSchema } from 'typebox'
import { cleanJson } from '../../lib/json/clean.ts'
import { describeJsonSyntaxError } from '../../lib/json/find-syntax-error.ts'
import { JsonError, NotJson } from '../../lib/json/parse.ts'
import { readJsonInTurns, type Reserve } from '../../lib/json/read-json.ts'
import { Api, type ReadBody } from '../../lib/http/api.ts'
import { jsonInvalid, openBody } from '../../lib/http/body.ts'
import { compileIssues } from '../../lib/http/validation/compile.ts'
import type { RequestContext, RequestState } from '../accounts/context.ts'
import type { IncomingBytes } from '../accounts/limits/incoming-bytes.ts'
import { authorizeRole, type RoleOption } from '../accounts/rest-api.ts'
import type { RequestMemory } from '../accounts/limits/request-memory.ts'
import type { StorageUse } from '../accounts/limits/storage.ts'

/** What bodies are read within. */
export interface TraceApiDeps {
  memory: RequestMemory
  storage: StorageUse
}

/** What clients take for the limit of a request. */
export const bodyLimitBytes = 32 * 1024 * 1024

// Beside those of the whole interface: what values say cannot be done, and what the database does not do in time.
const ownErrorStatuses = [400, 504]

/** What operations of the tracing group declare beside those of all. */
export interface TraceOptions extends RoleOption {
  /** Paths of members that arrive as their exact text, such as `obj.val` or `table.rows[]`. */
  texts?: readonly string[]
  /** It adds its body to what is stored: refused with 403 where the entity has no room. A handler that reads it counts it. */
  stores?: boolean
}

/**
 * The operations of the tracing group. They differ from the rest of the interface in what their clients need: bodies that
 * hold anything are accepted, members that a schema does not name are left alone, payloads keep their text, and errors have
 * the form of answer-errors.ts.
 */
export type TraceApi = Api<RequestState, TraceOptions>

export function createTraceApi(router: Router<RequestState>, deps: TraceApiDeps): TraceApi {
  return new Api<RequestState, TraceOptions>(router, {
    authorize: authorizeRole,
    compileBody: (schema, options) => compileTraceBody(deps, schema, options),
    closedQueries: false,
    errorStatuses: ownErrorStatuses,
  })
}

/** Compiles what reads and validates a body; what it stores counts from the first byte until the handler is through. */
function compileTraceBody(deps: TraceApiDeps, schema: TSchema, { stores = false, texts = [] }: TraceOptions) {
  const findIssues = compileIssues(schema)
  return async (ctx: RequestContext): Promise<ReadBody> => {
    const incoming = stores ? await deps.storage.receiveTraces(ctx) : undefined
    try {
      const { bytes, reserve } = await readBytes(deps.memory, ctx)
      incoming?.add(bytes.length)
      const value = await parseJsonBody(bytes, texts, reserve)
      const issues = findIssues(value, bytes.length)
      if (issues.length > 0) throw unprocessable(...issues)
      return { value, bytes, ...(incoming && { settle: (answered) => settle(incoming, answered) }) }
    } catch (error) {
      incoming?.release()
      throw error
    }
  }
}

/** What was stored counts there from now on. */
function settle(incoming: IncomingBytes, answered: boolean): void {
  if (answered) incoming.keep()
  incoming.release()
}

/** A request's body, cleaned of what no database can hold; its values count as its bytes do. @throws {HttpError} 413 */
async function readBytes(memory: RequestMemory, ctx: RequestContext): Promise<{ bytes: Buffer; reserve: Reserve }> {
  const held = memory.open(ctx)
  try {
    const bytes = cleanJson(await held.read(openBody(ctx, bodyLimitBytes)))
    return { bytes, reserve: (size) => held.add(size) }
  } catch (error) {
    throw error instanceof HttpError && error.status === 413 ? tooLarge() : error
  }
}

/** The value of a body. @throws {HttpError} 422 when it is no JSON */
async function parseJsonBody(bytes: Buffer, texts: readonly string[], reserve: Reserve): Promise<unknown> {
  try {
    return await readJsonInTurns(bytes, texts, reserve)
  } catch (error) {
    if (error instanceof NotJson) throw jsonInvalid(new JsonError(describeJsonSyntaxError(bytes.toString(), 0)))
    throw error instanceof JsonError ? jsonInvalid(error) : error
  }
}
