import { unprocessable, valueError } from '../../../lib/http/http-error.ts'
import { estimateValueBytes, outlineJson } from '../../../lib/json/outline.ts'
import { isObject } from '../../../lib/json/is-object.ts'
import type { RequestReservation } from '../../accounts/limits/request-memory.ts'
import { findResponseId } from './output-items.ts'
import type { InputItem, ResponseRequest } from './schema.ts'
import type { ResponseStore } from './store.ts'

const repeated = 'an item before it refers to the same item: refer to it once'

/**
 * Replaces references by the items of stored responses that they refer to. References to unknown items stay.
 *
 * @throws {HttpError} 422 for items of too many responses and for two references to one item, and as reserving memory
 * does
 */
export async function resolveReferences(
  stored: ResponseStore,
  request: ResponseRequest,
  { entity, memory }: { entity: string; memory: RequestReservation },
): Promise<ResponseRequest> {
  if (!Array.isArray(request.input)) return request
  rejectRepeated(request.input)
  const ids = new Set(request.input.flatMap((item) => findResponseId(readReference(item)) ?? []))
  if (ids.size === 0) return request
  memory.add(await stored.measure(entity, [...ids]))
  const rows = await stored.read(entity, [...ids])
  const found = new Map(rows.flatMap(({ response }) => readOutput(memory, response)).map((item) => [item['id'], item]))
  return { ...request, input: request.input.map((item) => found.get(readReference(item)) ?? item) }
}

/** Rejects repeated references, so that one large item does not become many. @throws {HttpError} 422 */
function rejectRepeated(input: readonly InputItem[]): void {
  const seen = new Set<string>()
  for (const [index, item] of input.entries()) {
    const id = readReference(item)
    if (id !== '' && seen.has(id)) throw unprocessable(valueError(['body', 'input', String(index), 'id'], repeated))
    seen.add(id)
  }
}

/** The id that an item refers to. Empty if the item is not a reference. */
function readReference({ type, id }: InputItem): string {
  return type === 'item_reference' && typeof id === 'string' ? id : ''
}

/** Parses the items of a stored input. Memory for their values is reserved first. */
export function readItems(memory: RequestReservation, text: string): InputItem[] {
  const items = parse(memory, text)
  return Array.isArray(items) ? items.filter(isObject) : []
}

/** Parses the output items of a stored response. Memory for their values is reserved first. */
export function readOutput(memory: RequestReservation, text: string): InputItem[] {
  const response = parse(memory, text)
  const output = isObject(response) ? response['output'] : undefined
  return Array.isArray(output) ? output.filter(isObject) : []
}

function parse(memory: RequestReservation, text: string): unknown {
  const bytes = Buffer.from(text)
  memory.add(estimateValueBytes(bytes.length, outlineJson(bytes)))
  return JSON.parse(text)
}
