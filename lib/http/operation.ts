import type { Static, TSchema } from 'typebox'
import type { HttpContext } from './context.ts'

/** One operation of the interface: what its requests are checked against, and what the OpenAPI document says of it. */
export interface Operation<
  Query extends TSchema = TSchema,
  Body extends TSchema = TSchema,
  Answer extends TSchema = TSchema,
> {
  /** Its chapter of the reference. */
  tag: string
  summary: string
  description?: string
  query?: Query
  /** The schema of a JSON body, which is read, parsed and checked before the handler. */
  body?: Body
  /** A body need not be sent. */
  bodyOptional?: boolean
  bodyLimitBytes?: number
  /** Media types of a body that the handler reads itself, with their schemas, for the document only. */
  streamedBody?: Record<string, TSchema>
  /** The schema of a JSON answer. */
  answer?: Answer
  /** Media types of other answers. */
  otherAnswers?: Record<string, TSchema>
  status?: 200 | 201 | 202 | 204
  /** Statuses of its errors, beside those that every operation of its form may have. */
  errorStatuses?: readonly number[]
  /** Schemas of answers by other statuses that are no errors. */
  otherStatuses?: Record<number, TSchema>
  /** The path parameter by which the answer's `id` names what was created, such as `model_id`. */
  idParameter?: string
  /**
   * A request that carries an Idempotency-Key is carried out once: its handler runs inside of `answerOnce`. With `handler`
   * the handler calls `answerOnce` itself, because it reads the body, or changes the stored answer for each client.
   */
  idempotent?: boolean | 'handler'
}

export type Method = 'get' | 'post' | 'put' | 'delete'

/** An operation with its method and path, as the document lists it. */
export interface PlacedOperation extends Operation {
  method: Method
  /** With parameters in braces, `{path*}` for one that takes slashes. */
  path: string
}

type ParameterName<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? (Name extends `${infer Bare}*` ? Bare : Name) | ParameterName<Rest>
  : never

/** The parameters of a path, by the names in its braces. */
export type PathParams<Path extends string> = string extends Path
  ? Readonly<Record<string, string>>
  : { readonly [Name in ParameterName<Path>]: string }

/** What a group's middleware knows about a request, at least its caller. */
export interface CallerState {
  caller: unknown
}

/** A checked request. */
export interface ApiRequest<State extends CallerState, Params, Query, Body> {
  ctx: HttpContext<State>
  caller: State['caller']
  params: Params
  query: Query
  body: Body
  /** An id for something that the request creates; a repeated request gets the same ids again. */
  newId: () => string
  /**
   * Runs `work` once per Idempotency-Key, for an operation whose `idempotent` is `handler`.
   *
   * @param digest sha256 of the body's bytes, where the handler has read them
   */
  answerOnce: <T>(work: () => Promise<T>, digest?: Buffer) => Promise<T>
}

/**
 * Answers a request. What it returns is the answer's JSON, as its value or as its text; a handler that returns undefined has
 * written the answer itself.
 */
export type Handler<
  State extends CallerState,
  Path extends string,
  Query extends TSchema,
  Body extends TSchema,
  Answer extends TSchema,
> = (
  request: ApiRequest<State, PathParams<Path>, Static<Query>, Static<Body>>,
) => Promise<Static<Answer> | string | void>
