import { httpErrors } from './errors.ts'
import { HttpError, unprocessable, type ValidationIssue } from './http-error.ts'
import { createHash } from 'node:crypto'
import { Stream, type Readable } from 'node:stream'
import type { Router } from '@koa/router'
import type { Static, TSchema } from 'typebox'
import { runForAnswer, type AnswerBytes } from '../request-scope.ts'
import { linger } from './body.ts'
import type { HttpContext } from './context.ts'
import { readIdempotencyKey, type Idempotency } from './idempotency.ts'
import type { ApiRequest, CallerState, Handler, Method, Operation, PathParams, PlacedOperation } from './operation.ts'
import { RequestIds } from './request-ids.ts'
import { compileQuery } from './validation/compile.ts'

/** A body that was read and validated. */
export interface ReadBody {
  value: unknown
  bytes: Uint8Array
  /** Called when the handler has finished: whether it answered or failed. */
  settle?: (answered: boolean) => void
}

/** The bytes of an answer, until its handler has ended. */
export interface OpenAnswer extends AnswerBytes {
  close: () => void
}

/** The rules of one group of operations. `Options` are the group's own options of an operation. */
export interface Dialect<State extends CallerState, Options extends object> {
  /** @throws {HttpError} 403 if the caller may not use the operation */
  authorize: (state: State, operation: Options, method: Method) => void
  /** Builds, once per operation, the function that reads and validates its JSON body. */
  compileBody: (schema: TSchema, operation: Operation & Options) => (ctx: HttpContext<State>) => Promise<ReadBody>
  /**
   * Waits until a checked request may begin. The returned function is called when its answer has ended. Undefined: no
   * request waits.
   *
   * @throws {HttpError} 429 or 503 for a limit
   */
  admit: ((ctx: HttpContext<State>, operation: Options) => Promise<() => void>) | undefined
  /** Counts what an operation reads for its answer. Undefined: all answers of the group are small. */
  openAnswer: ((ctx: HttpContext<State>) => OpenAnswer) | undefined
  /** Whether a GET rejects query parameters that are not in its schema. */
  closedQueries: boolean
  /** Statuses of errors that every operation of the group can return. */
  errorStatuses?: readonly number[]
  idempotency?: { service: Idempotency; ownerOf: (state: State) => string }
}

/**
 * The operations of a group. Each is declared once, with its schemas. They validate requests, type the handler and its
 * answer, and create the OpenAPI document.
 */
export class Api<State extends CallerState, Options extends object> {
  readonly operations: PlacedOperation[] = []
  readonly #router: Router<State>
  readonly #dialect: Dialect<State, Options>

  constructor(router: Router<State>, dialect: Dialect<State, Options>) {
    this.#router = router
    this.#dialect = dialect
  }

  get<P extends string, Q extends TSchema, B extends TSchema, A extends TSchema>(
    path: P,
    operation: Operation<Q, B, A> & Options,
    handle: Handler<State, P, Q, B, A>,
  ): void {
    this.#add('get', path, operation, handle)
  }

  post<P extends string, Q extends TSchema, B extends TSchema, A extends TSchema>(
    path: P,
    operation: Operation<Q, B, A> & Options,
    handle: Handler<State, P, Q, B, A>,
  ): void {
    this.#add('post', path, operation, handle)
  }

  put<P extends string, Q extends TSchema, B extends TSchema, A extends TSchema>(
    path: P,
    operation: Operation<Q, B, A> & Options,
    handle: Handler<State, P, Q, B, A>,
  ): void {
    this.#add('put', path, operation, handle)
  }

  delete<P extends string, Q extends TSchema, B extends TSchema, A extends TSchema>(
    path: P,
    operation: Operation<Q, B, A> & Options,
    handle: Handler<State, P, Q, B, A>,
  ): void {
    this.#add('delete', path, operation, handle)
  }

  /**
   * Declares an operation that is answered before this group. It is only used for the document, and for errors about
   * paths and methods.
   */
  declare(method: Method, path: string, operation: Operation & Options): void {
    this.#register(method, path, operation)
    this.#router[method](toRouterPath(path), () => {
      throw new HttpError(httpErrors.unknown_path)
    })
  }

  #add<P extends string, Q extends TSchema, B extends TSchema, A extends TSchema>(
    method: Method,
    path: P,
    operation: Operation<Q, B, A> & Options,
    handle: Handler<State, P, Q, B, A>,
  ): void {
    this.#register(method, path, operation)
    const receive = this.#compileRequest(operation, method)
    this.#router[method](toRouterPath(path), async (ctx) => {
      this.#dialect.authorize(ctx.state, operation, method)
      const received = await receive(ctx)
      const values = { params: ctx.params as PathParams<P>, query: received.query, body: received.body?.value }
      const request = { ...this.#openRequest(ctx, operation, received.body), ...values }
      const bytes = operation.countsOwnReads === true ? undefined : this.#dialect.openAnswer?.(ctx)
      const work = () =>
        runForAnswer(bytes, () => handle(request as ApiRequest<State, PathParams<P>, Static<Q>, Static<B>>))
      let [answered, release] = [false, () => {}]
      try {
        release = await this.#admit(ctx, operation)
        const answer = await (operation.idempotent === true ? request.answerOnce(work) : work())
        answered = true
        if (answer !== undefined) send(ctx, answer, operation.status)
      } finally {
        bytes?.close()
        received.body?.settle?.(answered)
        releaseAfter(ctx.body, release)
      }
    })
  }

  async #admit(ctx: HttpContext<State>, operation: Options): Promise<() => void> {
    try {
      return (await this.#dialect.admit?.(ctx, operation)) ?? (() => {})
    } catch (error) {
      linger(ctx)
      throw error
    }
  }

  #register(method: Method, path: string, operation: Operation & Options): void {
    const shared = this.#dialect.errorStatuses ?? []
    const errorStatuses = [...shared, ...(operation.errorStatuses ?? [])]
    this.operations.push({ ...operation, method, path, errorStatuses })
  }

  /** Compiles the reader of a request's query and body. It collects the issues of both. */
  #compileRequest(operation: Operation & Options, method: Method) {
    const parseQuery =
      operation.query && compileQuery(operation.query, { closed: this.#dialect.closedQueries && method === 'get' })
    const readBody = operation.body && this.#dialect.compileBody(operation.body, operation)
    return async (ctx: HttpContext<State>) => {
      const issues: ValidationIssue[] = []
      if (operation.idempotent) await collectIssues(issues, () => readIdempotencyKey(ctx))
      const query = await collectIssues(issues, () => parseQuery?.(ctx.query))
      const isSent = !operation.bodyOptional || hasBody(ctx)
      const body = await collectIssues(issues, () => (isSent ? readBody?.(ctx) : undefined))
      if (issues.length === 0) return { query, body }
      body?.settle?.(false)
      throw unprocessable(...issues)
    }
  }

  #openRequest(ctx: HttpContext<State>, { idempotent }: Operation, body: ReadBody | undefined) {
    const ids = new RequestIds(Boolean(idempotent) && readIdempotencyKey(ctx) !== undefined)
    const { idempotency } = this.#dialect
    const answerOnce = <T>(work: () => Promise<T>, digest = digestBody(body)): Promise<T> => {
      if (!idempotency) throw new Error('this group of operations has no idempotency')
      return idempotency.service.answerOnce({ ctx, owner: idempotency.ownerOf(ctx.state), ids }, digest, work)
    }
    return { ctx, caller: ctx.state.caller, newId: () => ids.next(), answerOnce }
  }
}

function toRouterPath(path: string): string {
  return path.replaceAll(/\{(\w+)\*\}/g, '*$1').replaceAll(/\{(\w+)\}/g, ':$1')
}

/** Sends an answer: a value is converted to JSON, a text is JSON already. */
function send(ctx: HttpContext, answer: unknown, status = 200): void {
  ctx.status = status
  ctx.body = answer
  if (typeof answer === 'string') ctx.type = 'application/json'
}

/** A stream that is sent still reads for the answer. It is closed when it has ended all of that. */
function releaseAfter(answer: unknown, release: () => void): void {
  if (answer instanceof Stream && !(answer as Readable).closed) answer.once('close', release)
  else release()
}

function digestBody(body: ReadBody | undefined): Buffer {
  return createHash('sha256')
    .update(body?.bytes ?? '')
    .digest()
}

function hasBody(ctx: HttpContext): boolean {
  return (ctx.request.length ?? 0) > 0 || ctx.get('Transfer-Encoding') !== ''
}

async function collectIssues<T>(issues: ValidationIssue[], parse: () => T): Promise<Awaited<T> | undefined> {
  try {
    return await parse()
  } catch (error) {
    if (!(error instanceof HttpError) || typeof error.detail === 'string') throw error
    issues.push(...error.detail)
    return undefined
  }
}
