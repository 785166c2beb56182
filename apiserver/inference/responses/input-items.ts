import { Type, type Static } from 'typebox'
import { isObject } from '../../../lib/json/is-object.ts'
import { invalidCursor, pageQuery, presentPage } from '../../../lib/http/page.ts'
import { parseText } from '../../../lib/json/parse-text.ts'

/** The default order is the same as OpenAI's: newest first. */
export const inputItemsQuery = Type.Object({
  ...pageQuery.properties,
  order: Type.Enum(['asc', 'desc'], { default: 'desc' }),
})

/**
 * Returns a page of the items of a stored input. An item without an id gets one from its position. @throws {HttpError}
 * 422 for an unknown `after`
 */
export function presentInputItems(input: string, { after, limit, order }: Static<typeof inputItemsQuery>) {
  const parsed: unknown = parseText(input)
  const items = (Array.isArray(parsed) ? parsed.filter(isObject) : []).map((item, index) => ({
    type: 'message',
    ...item,
    id: typeof item['id'] === 'string' ? item['id'] : `item_${index}`,
  }))
  const ordered = order === 'desc' ? items.toReversed() : items
  const found = after === undefined ? -1 : ordered.findIndex(({ id }) => id === after)
  if (after !== undefined && found === -1) throw invalidCursor()
  return presentPage(ordered.slice(found + 1), limit, (item) => item)
}
