import { HttpError, unprocessable } from '../../lib/http/http-error.ts'
import { tooLarge } from './errors.ts'
import type { Router } from '@koa/router'
import type { TSchema } from 'typebox'
import { cleanJson } from '../../lib/json/clean.ts'
import { describeSyntaxError } from '../../lib/json/find-syntax-error.ts'
import { JsonError, NotJson } from '../../lib/json/parse.ts'
import { readJsonInTurns, type Reserve } from '../../lib/json/read-json.ts'
import { Api, type ReadBody } from '../../lib/http/api.ts'
import { jsonInvalid, openBody } from '../../lib/http/body.ts'
import { compileIssues } from '../../lib/http/validation/compile.ts'
import type { RequestContext, RequestState } from '../accounts/context.ts'
import { maskKeyBytes } from '../accounts/keys/mask-keys.ts'
import type { IncomingBytes } from '../accounts/limits/incoming-bytes.ts'
import { authorizeRole, type ApiDeps, type OperationOptions } from '../accounts/rest-api.ts'
import { openAnswers } from '../accounts/limits/answer-memory.ts'
import type { RequestMemory } from '../accounts/limits/request-memory.ts'
import type { StorageUse } from '../accounts/limits/storage.ts'

export interface TraceApiDeps extends ApiDeps {
  storage: StorageUse
}

/** Clients assume this limit. */
export const bodyLimitBytes = 32 * 1024 * 1024

// Beside the statuses of all operations: 400 for values that cannot be used, 504 for a query that takes too long.
const ownErrorStatuses = [400, 504]

/** Options of operations in the tracing group, beside those of all operations. */
export interface TraceOptions extends OperationOptions {
  /** Paths of members that arrive as their exact text, such as `obj.val` or `table.rows[]`. */
  texts?: readonly string[]
  /**
   * The body counts as stored data: 403 when the entity's storage is full. A handler that reads the body itself counts
   * it.
   */
  stores?: boolean
  /** API keys of this service in the body become asterisks. Digests that clients make of a body rule it out. */
  masksKeys?: boolean
}

/**
 * The operations of the tracing group. Their clients need other rules than those of the REST interface: bodies may
 * contain anything, members that a schema does not name are ignored, payloads keep their text, and errors have the form
 * of answer-errors.ts.
 */
export type TraceApi = Api<RequestState, TraceOptions>

export function createTraceApi(router: Router<RequestState>, deps: TraceApiDeps): TraceApi {
  return new Api<RequestState, TraceOptions>(router, {
    authorize: authorizeRole,
    compileBody: (schema, options) => compileTraceBody(deps, schema, options),
    admit: deps.admission.admit,
    openAnswer: openAnswers(deps.memory),
    closedQueries: false,
    errorStatuses: ownErrorStatuses,
  })
}

/**
 * Compiles the function that reads and validates a body. A stored body counts as incoming from its first byte until the
 * handler returns.
 */
function compileTraceBody(deps: TraceApiDeps, schema: TSchema, options: TraceOptions) {
  const { stores = false, masksKeys = false, texts = [] } = options
  const findIssues = compileIssues(schema)
  return async (ctx: RequestContext): Promise<ReadBody> => {
    const incoming = stores ? await deps.storage.receiveTraces(ctx) : undefined
    try {
      const { bytes, reserve } = await readBytes(deps.memory, ctx)
      incoming?.add(bytes.length)
      if (masksKeys) maskKeyBytes(bytes)
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

/** After an answer, the bytes count as stored. After an error, they no longer count. */
function settle(incoming: IncomingBytes, answered: boolean): void {
  if (answered) incoming.keep()
  incoming.release()
}

/**
 * Reads the body and removes what the database cannot store. `reserve` counts its parsed values. @throws {HttpError}
 * 413
 */
async function readBytes(memory: RequestMemory, ctx: RequestContext): Promise<{ bytes: Buffer; reserve: Reserve }> {
  const held = memory.open(ctx)
  try {
    const bytes = cleanJson(await held.read(openBody(ctx, bodyLimitBytes)))
    return { bytes, reserve: (size) => held.add(size) }
  } catch (error) {
    throw error instanceof HttpError && error.status === 413 ? tooLarge() : error
  }
}

/** Parses a body. @throws {HttpError} 422 when it is not JSON */
async function parseJsonBody(bytes: Buffer, texts: readonly string[], reserve: Reserve): Promise<unknown> {
  try {
    return await readJsonInTurns(bytes, texts, reserve)
  } catch (error) {
    if (error instanceof NotJson) throw jsonInvalid(new JsonError(describeSyntaxError(bytes)))
    throw error instanceof JsonError ? jsonInvalid(error) : error
  }
}
