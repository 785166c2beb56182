import { isObject } from '../../../lib/json/is-object.ts'

/** The items of a stored input as one page, the newest first, as OpenAI lists them. Those without an id have their place. */
export function presentInputItems(input: string) {
  const parsed: unknown = JSON.parse(input)
  const items = Array.isArray(parsed) ? parsed.filter(isObject) : []
  const data = items.map((item, place) => ({ id: `item_${place}`, type: 'message', ...item })).toReversed()
  return {
    object: 'list' as const,
    data,
    has_more: false as const,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  }
}
