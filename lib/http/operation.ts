import type { Static, TSchema } from 'typebox'
import type { HttpContext } from './context.ts'

/** One operation of the interface: how its requests are checked, and how the OpenAPI document describes it. */
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
  /** The schema of a JSON body. The body is read, parsed and checked before the handler runs. */
  body?: Body
  /** Whether the body may be missing. */
  bodyOptional?: boolean
  bodyLimitBytes?: number
  /** Schemas by media type of a body that the handler reads itself. Only for the document. */
  streamedBody?: Record<string, TSchema>
  /** The schema of a JSON answer. */
  answer?: Answer
  /** Schemas by media type of other answers. */
  otherAnswers?: Record<string, TSchema>
  status?: 200 | 201 | 202 | 204
  /** Statuses of its errors, besides those that every operation of its kind can return. */
  errorStatuses?: readonly number[]
  /** Schemas of answers with other success statuses. */
  otherStatuses?: Record<number, TSchema>
  /** Its handler reserves the memory of what it reads by itself, because it sends an answer of any length in parts. */
  countsOwnReads?: boolean
  /** Whether it is answered without a key. */
  needsNoKey?: boolean
  /** The path parameter that takes the `id` of what was created, such as `model_id`. */
  idParameter?: string
  /**
   * A request with an Idempotency-Key runs once: its handler runs inside `answerOnce`. With `handler`, the handler
   * calls `answerOnce` itself, because it reads the body, or changes the stored answer for each client.
   */
  idempotent?: boolean | 'handler'
}

export type Method = 'get' | 'post' | 'put' | 'delete'

/** An operation with its method and path, as in the document. */
export interface PlacedOperation extends Operation {
  method: Method
  /** Parameters are in braces; `{path*}` may contain slashes. */
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
  /** Creates an id for something that the request creates. A repeated request gets the same ids. */
  newId: () => string
  /**
   * Runs `work` once per Idempotency-Key, for an operation whose `idempotent` is `handler`.
   *
   * @param digest the SHA-256 of the body's bytes, if the handler has read them
   */
  answerOnce: <T>(work: () => Promise<T>, digest?: Buffer) => Promise<T>
}

/**
 * Handles a request. Returns the answer's JSON, as a value or as text. Returns undefined if it has written the answer
 * itself.
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
