import { outlineJson, type JsonOutline } from './outline.ts'
import { findTextStart, JsonError } from './parse.ts'
import { parseText } from './parse-text.ts'
import { flattenJson } from './flatten.ts'
import { planTexts, type Plan } from './text-plan.ts'
import { scanInTurns, scanPlanned, type PlannedTexts, type TextTree } from './find-texts.ts'
import { TooDeep } from './skip.ts'
import { JsonText } from './json-text.ts'

// Texts are not built as values. The rest of any request is small: a body of 32 MiB with the smallest calls that
// clients send has fewer objects and members than this, and a table of a million digests has fewer items.
const maxContainers = 500_000
const maxCommas = 2_000_000

// The memory of each as a V8 value, and of a JsonText. The values of smaller bodies are not counted.
const [containerBytes, commaBytes, entryBytes] = [100, 30, 150]
const smallBytes = 64 * 1024

const nothing = Buffer.from('null')

/** Called with the bytes that a text's values will take, before they are built. */
export type Reserve = (bytes: number) => void

/**
 * Parses a JSON text, such as a body from `cleanJson`, into plain values. Values at the paths `texts` (`obj.val`,
 * `batch[].inputs`, `rows[]`) become JsonText and are not built. The last of repeated keys counts, and `__proto__` is a
 * normal key. Values nested deeper than 500 become null.
 *
 * A large batch can be parsed in steps: first `batch[]` as texts, then each text's bytes.
 *
 * @throws {JsonError} for a text that is not JSON or has too many values, and what `reserve` throws
 */
export function readJson(bytes: Buffer, texts: readonly string[], reserve?: Reserve): unknown {
  const plan = planTexts(texts)
  const read = (from: Buffer) => build(from, { plan, reserve, found: scanPlanned(from, findTextStart(from), plan) })
  try {
    return read(bytes)
  } catch (error) {
    if (!(error instanceof TooDeep)) throw error
    return read(flattenJson(bytes))
  }
}

/** Does the same, and yields to other work. */
export async function readJsonInTurns(bytes: Buffer, texts: readonly string[], reserve?: Reserve): Promise<unknown> {
  const plan = planTexts(texts)
  const read = async (from: Buffer) =>
    build(from, { plan, reserve, found: await scanInTurns(from, findTextStart(from), plan) })
  try {
    return await read(bytes)
  } catch (error) {
    if (!(error instanceof TooDeep)) throw error
    return await read(flattenJson(bytes))
  }
}

interface Found {
  plan: Plan
  found: PlannedTexts
  reserve: Reserve | undefined
}

/** Removes the texts, parses the rest natively with null in their places, and inserts the texts there. */
function build(bytes: Buffer, { plan, found, reserve }: Found): unknown {
  reserve?.(found.texts.length * entryBytes)
  const rest = cutTexts(bytes, findTextStart(bytes), found.texts)
  return putTexts(parseRest(rest, reserve), plan, found.tree)
}

function cutTexts(bytes: Buffer, start: number, texts: JsonText[]): string {
  const textBytes = texts.reduce((sum, { size }) => sum + size, 0)
  const rest = Buffer.allocUnsafe(bytes.length - start - textBytes + texts.length * nothing.length)
  let size = 0
  let from = start
  for (const text of texts) {
    size += bytes.copy(rest, size, from, text.start)
    size += nothing.copy(rest, size)
    from = text.end
  }
  size += bytes.copy(rest, size, from)
  return rest.toString('utf8', 0, size)
}

function parseRest(rest: string, reserve?: Reserve): unknown {
  if (rest.length > smallBytes) countValues(rest, reserve)
  return parseText(rest)
}

function countValues(text: string, reserve?: Reserve): void {
  const outline = outlineJson(Buffer.from(text))
  rejectManyValues(outline)
  reserve?.(outline.containers * containerBytes + outline.commas * commaBytes)
}

/** @throws {JsonError} for more values than any client sends, which would take long to build */
export function rejectManyValues({ containers, commas }: JsonOutline): void {
  if (containers > maxContainers || commas > maxCommas) throw new JsonError('too many values')
}

function putTexts(value: unknown, plan: Plan, tree: TextTree): unknown {
  if (tree instanceof JsonText || !tree) return tree ?? value
  if (Array.isArray(value)) putItems(value, plan.item!, tree)
  else putMembers(value as Record<string, unknown>, plan, tree)
  return value
}

function putItems(items: unknown[], plan: Plan, trees: TextTree[]): void {
  for (let index = 0; index < items.length; index++) items[index] = putTexts(items[index], plan, trees[index])
}

function putMembers(value: Record<string, unknown>, { members }: Plan, trees: TextTree[]): void {
  for (let index = 0; index < members.length; index++) {
    const { name, plan } = members[index]!
    if (trees[index]) value[name] = putTexts(value[name], plan, trees[index])
  }
}
