import { findTextStart, JsonError, parseText } from '../../json/text.ts'
import { flattenJson } from './flatten.ts'
import { planTexts, type Plan } from './plan.ts'
import { scanPlanned, type TextTree } from './scan.ts'
import { TooDeep } from './skip.ts'
import { JsonText } from './text.ts'

// Payloads are not built as values. What is besides them is small in any request; this many take some hundreds of MB.
const maxContainers = 3_000_000

const nothing = Buffer.from('null')

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
  const plan = planTexts(texts)
  try {
    return readPlanned(bytes, plan)
  } catch (error) {
    if (!(error instanceof TooDeep)) throw error
    return readPlanned(flattenJson(bytes), plan)
  }
}

/** The texts are cut out, what is left is parsed natively with null in their places, and they are put there. */
function readPlanned(bytes: Buffer, plan: Plan): unknown {
  const start = findTextStart(bytes)
  const { texts, tree } = scanPlanned(bytes, start, plan)
  return putTexts(parseRest(cutTexts(bytes, start, texts)), plan, tree)
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

function parseRest(rest: string): unknown {
  // Two characters are the shortest of them.
  if (rest.length > 2 * maxContainers && countContainers(rest) > maxContainers) throw new JsonError('too many values')
  return parseText(rest)
}

/** How many objects and arrays there are at most: brackets in texts count too. */
function countContainers(text: string): number {
  let count = 0
  for (const bracket of ['{', '['])
    for (let at = text.indexOf(bracket); at >= 0 && count <= maxContainers; at = text.indexOf(bracket, at + 1)) count++
  return count
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
