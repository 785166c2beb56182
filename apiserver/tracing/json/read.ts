import { findTextStart, JsonError, parseText } from '../../json/text.ts'
import { flattenJson } from './flatten.ts'
import { planTexts, type Plan } from './plan.ts'
import { JsonScanner, TooDeep } from './scanner.ts'
import { notJson } from './skip.ts'
import { JsonText } from './text.ts'

const backslash = 0x5c
const openBracket = 0x5b
const openBrace = 0x7b

// Payloads are not built as values. What is besides them is small in any request, and takes some hundreds of MB at this.
const maxContainers = 3_000_000

/**
 * Reads a JSON text, such as a whole body of `cleanJson`, into plain values; those at the paths `texts` (`obj.val`,
 * `batch[].inputs`, `rows[]`) become JsonText and are not built. Of a key given twice the last counts, `__proto__` is a
 * key like others, and what is nested deeper than 500 is null.
 *
 * A large batch can be walked in steps: read `batch[]` as texts, then each text's bytes.
 *
 * @throws {JsonError} for what is not JSON
 */
export function readJson(bytes: Buffer, texts: readonly string[]): unknown {
  try {
    return readPlanned(bytes, planTexts(texts))
  } catch (error) {
    if (!(error instanceof TooDeep)) throw error
    return readPlanned(flattenJson(bytes), planTexts(texts))
  }
}

/** The texts are cut out, what is left is parsed natively with their numbers in their places, and then they are put there. */
function readPlanned(bytes: Buffer, plan: Plan): unknown {
  const scanner = new JsonScanner(bytes, findTextStart(bytes))
  const cuts: number[] = []
  scanPlanned(scanner, plan, cuts)
  if (scanner.peek() !== undefined) throw notJson()
  const found: JsonText[] = []
  let rest = ''
  let from = findTextStart(bytes)
  for (let index = 0; index < cuts.length; index += 2) {
    const [start, end] = [cuts[index]!, cuts[index + 1]!]
    rest += bytes.toString('utf8', from, start) + found.length
    found.push(new JsonText(bytes, start, end))
    from = end
  }
  return putTexts(parseText(rest + bytes.toString('utf8', from)), plan, found)
}

function scanPlanned(scanner: JsonScanner, plan: Plan, cuts: number[]): void {
  const byte = scanner.peek()
  if (plan.isText) cutValue(scanner, cuts)
  else if (byte === openBrace && plan.members.length > 0) scanMembers(scanner, plan, cuts)
  else if (byte === openBracket && plan.item) scanItems(scanner, plan.item, cuts)
  else scanner.skipValue()
  if (scanner.containers > maxContainers) throw new JsonError('too many values')
}

function cutValue(scanner: JsonScanner, cuts: number[]): void {
  const { at, containers } = scanner
  scanner.skipValue()
  cuts.push(at, scanner.at)
  scanner.containers = containers
}

function scanMembers(scanner: JsonScanner, plan: Plan, cuts: number[]): void {
  scanner.open()
  for (let more = !scanner.close(); more; more = scanner.hasMore()) {
    scanner.peek()
    const start = scanner.at
    const end = scanner.skipKey()
    const member = findMember(plan, scanner.bytes, start, end)
    if (member) scanPlanned(scanner, member, cuts)
    else scanner.skipValue()
  }
}

function scanItems(scanner: JsonScanner, item: Plan, cuts: number[]): void {
  scanner.open()
  for (let more = !scanner.close(); more; more = scanner.hasMore()) scanPlanned(scanner, item, cuts)
}

/** The plan of a member by its key's text with both quotes, from `start` to before `end`. */
function findMember({ members }: Plan, bytes: Buffer, start: number, end: number): Plan | undefined {
  for (const { key, plan } of members) if (key.length === end - start && isAt(bytes, start, key)) return plan
  // A key can be written with escapes.
  if (!bytes.subarray(start, end).includes(backslash)) return undefined
  const name = parseText(bytes.toString('utf8', start, end))
  return members.find((member) => member.name === name)?.plan
}

function isAt(bytes: Buffer, start: number, key: Buffer): boolean {
  for (let index = 0; index < key.length; index++) if (bytes[start + index] !== key[index]) return false
  return true
}

function putTexts(value: unknown, plan: Plan, found: JsonText[]): unknown {
  if (plan.isText) return found[Number(value)]
  if (Array.isArray(value)) putItems(value, plan.item, found)
  else if (typeof value === 'object' && value !== null) putMembers(value as Record<string, unknown>, plan, found)
  return value
}

function putItems(items: unknown[], plan: Plan | undefined, found: JsonText[]): void {
  if (!plan) return
  for (let index = 0; index < items.length; index++) items[index] = putTexts(items[index], plan, found)
}

function putMembers(value: Record<string, unknown>, { members }: Plan, found: JsonText[]): void {
  for (const { name, plan } of members) if (Object.hasOwn(value, name)) value[name] = putTexts(value[name], plan, found)
}
