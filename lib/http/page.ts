import { type HttpError, unprocessable, valueError } from './http-error.ts'
import { Type, type Static, type TSchema } from 'typebox'
import { isUuid } from './validation/compile.ts'

export const pageQuery = Type.Object({
  after: Type.Optional(Type.String()),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
})

export const orderedPageQuery = Type.Object({
  ...pageQuery.properties,
  order: Type.Enum(['asc', 'desc'], { default: 'asc' }),
})

export type PageQuery = Static<typeof pageQuery>
export type OrderedPageQuery = Static<typeof orderedPageQuery>

/** A page of a list, as clients of the OpenAI kind walk it: the next one is asked for with `after=<last_id>`. */
export interface ListPage<T> {
  object: 'list'
  data: T[]
  has_more: boolean
  first_id: string
  last_id: string
}

/** The schema of a page of items. */
export function listOf<Item extends TSchema>(item: Item) {
  return Type.Object({
    object: Type.Literal('list'),
    data: Type.Array(item),
    has_more: Type.Boolean(),
    first_id: Type.String(),
    last_id: Type.String(),
  })
}

/** Makes a page of `limit` items out of rows of which one more was asked for. */
export function presentPage<Row, T extends { id: string }>(
  rows: Row[],
  limit: number,
  present: (row: Row) => T,
): ListPage<T> {
  const data = rows.slice(0, limit).map(present)
  return {
    object: 'list',
    data,
    has_more: rows.length > limit,
    first_id: data[0]?.id ?? '',
    last_id: data.at(-1)?.id ?? '',
  }
}

/**
 * The place in a list of the item that `after` names; undefined when no `after` was given.
 *
 * @throws {HttpError} 422 when it names no item of this list
 */
export async function resolveCursor<Place>(
  after: string | undefined,
  find: (id: string) => Promise<Place | undefined>,
): Promise<Place | undefined> {
  if (after === undefined) return undefined
  const place = isUuid(after) ? await find(after) : undefined
  if (place !== undefined) return place
  throw invalidCursor()
}

/** The error for an `after` that names no item of this list. */
export function invalidCursor(): HttpError {
  const reason = 'must be the id of an item of this list'
  return unprocessable(valueError(['query', 'after'], reason))
}
