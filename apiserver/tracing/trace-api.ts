import type { Router } from '@koa/router'
import type { Static, TSchema } from 'typebox'
import type { Deps } from '../deps.ts'
import type { PlacedOperation } from '../http/api.ts'
import { describeJsonFault } from '../../lib/json/find-fault.ts'
import { JsonError, NotJson } from '../../lib/json/parse.ts'
import { requireRole } from '../middleware/auth.ts'
import { jsonInvalid, openBody } from '../middleware/body.ts'
import type { Caller, RequestContext, RequestState, Role } from '../middleware/context.ts'
import { Refusal, unprocessable } from '../refusal.ts'
import { compileFaults, compileQuery } from '../validation/compile.ts'
import { cleanJson } from '../../lib/json/clean.ts'
import { readJsonInTurns, type Reserve } from '../../lib/json/read-json.ts'
import { tooLarge } from './refusals.ts'

/** What clients take for the limit of a request. */
export const bodyLimitBytes = 32 * 1024 * 1024

// Beside those of the whole interface: what values say cannot be done, and what the database does not do in time.
const ownRefusals = [400, 504]

/** One operation of the tracing group: what its requests are checked against, and what the document says of it. */
export interface TraceOperation<Query extends TSchema = TSchema, Body extends TSchema = TSchema> {
  tag: string
  summary: string
  description?: string
  /** The least role that may ask: `read` for what changes nothing, by whatever method; else `member`. */
  role?: Role
  query?: Query
  /** The schema of a JSON body. Members that it does not name are left alone: newer clients send more. */
  body?: Body
  /** Paths of members that arrive as their exact text, such as `obj.val` or `table.rows[]`. */
  texts?: readonly string[]
  /** Media types of a body that the handler reads itself, for the document only. */
  streamedBody?: Record<string, TSchema>
  /** It adds its body to what is stored: refused with 403 where the entity has no room. A handler that reads it counts it. */
  stores?: boolean
  answer?: TSchema
  otherAnswers?: Record<string, TSchema>
}

/** A checked request. */
export interface TraceRequest<Query, Body> {
  ctx: RequestContext
  caller: Caller
  params: Record<string, string>
  query: Query
  body: Body
}

type Handler<Query extends TSchema, Body extends TSchema> = (
  request: TraceRequest<Static<Query>, Static<Body>>,
) => Promise<unknown>

type Method = 'get' | 'post' | 'put'

/**
 * The operations of the tracing group, each declared once. They differ from the rest of the interface in what their
 * clients need: bodies that hold anything are taken, members that nobody knows are left alone, payloads keep their text,
 * and refusals have the form of answer-errors.ts.
 *
 * What a handler returns is the answer's JSON, or its text; one that returns nothing has written the answer itself.
 */
export class TraceApi {
  readonly operations: PlacedOperation[] = []
  readonly #router: Router<RequestState>
  readonly #deps: Pick<Deps, 'memory' | 'storage'>

  constructor(router: Router<RequestState>, deps: Pick<Deps, 'memory' | 'storage'>) {
    this.#router = router
    this.#deps = deps
  }

  get<Q extends TSchema, B extends TSchema>(
    path: string,
    operation: TraceOperation<Q, B>,
    handle: Handler<Q, B>,
  ): void {
    this.#add('get', path, { role: 'read', ...operation }, handle)
  }

  post<Q extends TSchema, B extends TSchema>(path: string, operation: TraceOperation<Q, B>, handle: Handler<Q, B>) {
    this.#add('post', path, operation, handle)
  }

  put<Q extends TSchema, B extends TSchema>(
    path: string,
    operation: TraceOperation<Q, B>,
    handle: Handler<Q, B>,
  ): void {
    this.#add('put', path, operation, handle)
  }

  #add<Q extends TSchema, B extends TSchema>(
    method: Method,
    path: string,
    operation: TraceOperation<Q, B>,
    handle: Handler<Q, B>,
  ): void {
    const { role = 'member', texts, stores = false, ...described } = operation
    this.operations.push({ ...described, role, method, path, refusals: ownRefusals })
    const parseQuery = operation.query && compileQuery(operation.query)
    const parseBody = operation.body && compileTraceBody(operation.body, texts)
    this.#router[method](path.replaceAll(/\{(\w+)\}/g, ':$1'), async (ctx) => {
      const { caller } = ctx.state
      requireRole(caller, role)
      const incoming = stores ? await this.#deps.storage.receiveTraces(ctx) : undefined
      try {
        const query = parseQuery?.(ctx.query) as Static<Q>
        const given = parseBody && (await this.#readBody(ctx))
        incoming?.add(given?.bytes.length ?? 0)
        const body = (given && (await parseBody(given.bytes, given.reserve))) as Static<B>
        send(ctx, await handle({ ctx, caller, params: ctx.params, query, body }))
        incoming?.keep()
      } finally {
        incoming?.release()
      }
    })
  }

  /** A request's body, cleaned of what no database can hold; its values count as its bytes do. @throws {TraceRefusal} 413 */
  async #readBody(ctx: RequestContext): Promise<{ bytes: Buffer; reserve: Reserve }> {
    const held = this.#deps.memory.open(ctx)
    try {
      const bytes = cleanJson(await held.read(openBody(ctx, bodyLimitBytes)))
      return { bytes, reserve: (size) => held.add(size) }
    } catch (error) {
      throw error instanceof Refusal && error.status === 413 ? tooLarge() : error
    }
  }
}

/** A handler's answer, unless it has written it itself. */
function send(ctx: RequestContext, answer: unknown): void {
  if (answer === undefined) return
  ctx.body = answer
  if (typeof answer === 'string') ctx.type = 'application/json'
}

type ParseBody<T> = (bytes: Buffer, reserve: Reserve) => Promise<T>

function compileTraceBody<S extends TSchema>(schema: S, texts: readonly string[] = []): ParseBody<Static<S>> {
  const findFaults = compileFaults(schema)
  return async (bytes, reserve) => {
    const value = await readJsonBody(bytes, texts, reserve)
    const faults = findFaults(value, bytes.length)
    if (faults.length > 0) throw unprocessable(...faults)
    return value as Static<S>
  }
}

/** The value of a body. @throws {Refusal} 422 when it is no JSON */
async function readJsonBody(bytes: Buffer, texts: readonly string[], reserve: Reserve): Promise<unknown> {
  try {
    return await readJsonInTurns(bytes, texts, reserve)
  } catch (error) {
    if (error instanceof NotJson) throw jsonInvalid(new JsonError(describeJsonFault(bytes.toString(), 0)))
    throw error instanceof JsonError ? jsonInvalid(error) : error
  }
}
