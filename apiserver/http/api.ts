import { createHash } from 'node:crypto'
import type { Router } from '@koa/router'
import type { Static, TSchema } from 'typebox'
import type { Caller, RequestContext, RequestState, Role } from '../middleware/context.ts'
import { requireRole } from '../middleware/auth.ts'
import { compileBody, compileQuery } from '../validation/compile.ts'
import type { Fault } from '../refusal.ts'
import { Refusal, unprocessable } from '../refusal.ts'
import type { Deps } from '../deps.ts'
import { answerOnce, readIdempotencyKey } from './idempotency.ts'
import { RequestIds } from './request-ids.ts'

// Names, settings and short lists. What takes more says so.
const defaultBodyLimitBytes = 64 * 1024

/** One operation of the interface: what its requests are checked against, and what the OpenAPI document says of it. */
export interface Operation<Query extends TSchema = TSchema, Body extends TSchema = TSchema> {
  /** The chapter of the reference that it stands in. */
  tag: string
  summary: string
  description?: string
  /** The least role that may ask; else `read` for GET and `member` for all that changes something. */
  role?: Role
  query?: Query
  /** The schema of a JSON body, which is read, parsed and checked before the handler. */
  body?: Body
  /** A body need not be sent. */
  bodyOptional?: boolean
  bodyLimitBytes?: number
  /** Media types of a body that the handler reads itself, with their schemas, for the document only. */
  streamedBody?: Record<string, TSchema>
  /** The schema of a JSON answer. */
  answer?: TSchema
  /** Media types of other answers. */
  otherAnswers?: Record<string, TSchema>
  status?: 200 | 201 | 202 | 204
  /** Statuses, beside the usual ones, of its refusals. */
  refusals?: number[]
  /** Schemas of answers by other statuses that are no refusals. */
  otherStatuses?: Record<number, TSchema>
  /** The path parameter by which the answer's `id` names what was made, such as `model_id`. */
  makes?: string
  /**
   * It makes something: a request that carries an Idempotency-Key makes it once. With a streamed body the handler itself
   * calls `answerOnce`, because the body belongs to what is compared.
   */
  creates?: boolean
  /** Makes what the client gets out of the answer that is kept under an Idempotency-Key, each time that it is given. */
  reveal?: (answer: unknown, ctx: RequestContext) => unknown
}

/** An operation with its place, as the document lists it. */
export interface PlacedOperation extends Operation {
  method: 'get' | 'post' | 'put' | 'delete'
  /** With parameters in braces, `{path*}` for one that takes slashes. */
  path: string
}

/** A checked request. */
export interface ApiRequest<Query, Body> {
  ctx: RequestContext
  caller: Caller
  params: Record<string, string>
  query: Query
  body: Body
  /** Of something that the request makes; when the request is repeated, the same again. */
  newId: () => string
  ids: RequestIds
}

type Handler<Query extends TSchema, Body extends TSchema> = (
  request: ApiRequest<Static<Query>, Static<Body>>,
) => Promise<unknown>

/**
 * The operations of the interface. Each is declared once, with its schemas: they check its requests, type its handler,
 * and make the OpenAPI document.
 *
 * What a handler returns is the answer's JSON; one that returns nothing has written the answer itself.
 */
export class Api {
  readonly operations: PlacedOperation[] = []
  readonly #router: Router<RequestState>
  readonly #deps: Pick<Deps, 'pool' | 'log' | 'memory'>

  constructor(router: Router<RequestState>, deps: Pick<Deps, 'pool' | 'log' | 'memory'>) {
    this.#router = router
    this.#deps = deps
  }

  get<Q extends TSchema, B extends TSchema>(path: string, operation: Operation<Q, B>, handle: Handler<Q, B>): void {
    this.#add('get', path, operation, handle)
  }

  post<Q extends TSchema, B extends TSchema>(path: string, operation: Operation<Q, B>, handle: Handler<Q, B>): void {
    this.#add('post', path, operation, handle)
  }

  put<Q extends TSchema, B extends TSchema>(path: string, operation: Operation<Q, B>, handle: Handler<Q, B>): void {
    this.#add('put', path, operation, handle)
  }

  delete<Q extends TSchema, B extends TSchema>(path: string, operation: Operation<Q, B>, handle: Handler<Q, B>): void {
    this.#add('delete', path, operation, handle)
  }

  #add<Q extends TSchema, B extends TSchema>(
    method: PlacedOperation['method'],
    path: string,
    operation: Operation<Q, B>,
    handle: Handler<Q, B>,
  ): void {
    const role = operation.role ?? (method === 'get' ? 'read' : 'member')
    this.operations.push({ ...operation, role, method, path })
    const check = compileRequest(operation, { ...this.#deps, method })
    this.#router[method](toRouterPath(path), async (ctx) => {
      requireRole(ctx.state.caller, role)
      const { digest, ...checked } = await check(ctx)
      const ids = new RequestIds(operation.creates === true && readIdempotencyKey(ctx) !== undefined)
      const newId = () => ids.next()
      const request = { ctx, caller: ctx.state.caller, params: ctx.params, ...checked, newId, ids }
      const once = operation.creates && !operation.streamedBody
      const answer = await (once ? answerOnce(this.#deps, request, digest, () => handle(request)) : handle(request))
      if (answer === undefined) return
      ctx.status = operation.status ?? 200
      ctx.body = operation.reveal ? operation.reveal(answer, ctx) : answer
    })
  }
}

function toRouterPath(path: string): string {
  return path.replaceAll(/\{(\w+)\*\}/g, '*$1').replaceAll(/\{(\w+)\}/g, ':$1')
}

/** Checks query and body, and tells the faults of both at once. */
function compileRequest<Q extends TSchema, B extends TSchema>(
  operation: Operation<Q, B>,
  { memory, method }: Pick<Deps, 'memory'> & Pick<PlacedOperation, 'method'>,
) {
  // What is got by a query is a list.
  const parseQuery = operation.query && compileQuery(operation.query, { closed: method === 'get' })
  const parseBody = operation.body && compileBody(operation.body)
  return async (ctx: RequestContext): Promise<{ query: Static<Q>; body: Static<B>; digest: Buffer }> => {
    const reads = parseBody !== undefined && (!operation.bodyOptional || hasBody(ctx))
    const document = reads ? await memory.readJson(ctx, operation.bodyLimitBytes ?? defaultBodyLimitBytes) : undefined
    const faults: Fault[] = []
    if (operation.creates) collectFaults(faults, () => readIdempotencyKey(ctx))
    const query = collectFaults(faults, () => parseQuery?.(ctx.query))
    const body = collectFaults(faults, () => document && parseBody?.(document))
    if (faults.length > 0) throw unprocessable(...faults)
    const digest = createHash('sha256')
      .update(document?.bytes ?? '')
      .digest()
    return { query: query as Static<Q>, body: body as Static<B>, digest }
  }
}

function hasBody(ctx: RequestContext): boolean {
  return (ctx.request.length ?? 0) > 0 || ctx.get('Transfer-Encoding') !== ''
}

function collectFaults<T>(faults: Fault[], parse: () => T): T | undefined {
  try {
    return parse()
  } catch (error) {
    if (!(error instanceof Refusal) || typeof error.detail === 'string') throw error
    faults.push(...error.detail)
    return undefined
  }
}
