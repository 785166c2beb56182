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

/** For lists that can be counted. */
export const totalQuery = {
  max_total: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100_000,
      description: 'Also counts what the filter finds, on all pages, up to this number: `total` of the answer.',
    }),
  ),
}

export const countedPageQuery = Type.Object({ ...pageQuery.properties, ...totalQuery })
export const countedOrderedPageQuery = Type.Object({ ...orderedPageQuery.properties, ...totalQuery })

export type PageQuery = Static<typeof pageQuery>
export type CountedPageQuery = Static<typeof countedPageQuery>
export type CountedOrderedPageQuery = Static<typeof countedOrderedPageQuery>
export type OrderedPageQuery = Static<typeof orderedPageQuery>

/** A page of a list in OpenAI's form. Clients request the next page with `after=<last_id>`. */
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

/** The schema of a page of items that can be counted. */
export function countedListOf<Item extends TSchema>(item: Item) {
  const total = Type.Integer({
    description: 'With `max_total`: how many items there are; that number if there may be more.',
  })
  return Type.Object({ ...listOf(item).properties, total: Type.Optional(total) })
}

/** Counts the items of a list up to the number that a client names; undefined if it names none. */
export function countTotal(
  maxTotal: number | undefined,
  count: (max: number) => Promise<number>,
): Promise<number> | undefined {
  return maxTotal === undefined ? undefined : count(maxTotal)
}

/** The page of a list that was counted, if that was asked for. */
export function withTotal<Page>(page: Page, total: number | undefined): Page & { total?: number } {
  return { ...page, ...(total !== undefined && { total }) }
}

/** Builds a page of `limit` items. One more row than `limit` was requested, to know whether more follow. */
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
 * The position in a list of the item that `after` names; undefined without `after`.
 *
 * @throws {HttpError} 422 if it names no item of this list
 */
export async function resolveCursor<Position>(
  after: string | undefined,
  find: (id: string) => Promise<Position | undefined>,
): Promise<Position | undefined> {
  if (after === undefined) return undefined
  const position = isUuid(after) ? await find(after) : undefined
  if (position !== undefined) return position
  throw invalidCursor()
}

/** The error for an `after` that names no item of this list. */
export function invalidCursor(): HttpError {
  const reason = 'must be the id of an item of this list'
  return unprocessable(valueError(['query', 'after'], reason))
}
