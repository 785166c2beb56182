import { cleanJson } from '../../lib/json/clean.ts'
import { maxParsedDepth } from '../../lib/json/depth.ts'
import { isObject } from '../../lib/json/is-object.ts'
import { outlineJson } from '../../lib/json/outline.ts'
import { parseText } from '../../lib/json/parse-text.ts'

const quotes = Buffer.from('"')
// Postgres stores a number in twelve bytes, and unpacks a whole config for a filter.
export const maxDocumentValues = 1_000_000

/** Makes a JSON text that Postgres reads. NaN and infinities become strings with these words, which SDKs show. */
export function cleanJsonText(text: string): string {
  return cleanJson(Buffer.from(text), (word) => Buffer.concat([quotes, word, quotes])).toString()
}

/** Reads a JSON object. Undefined if the text is something else, or nested too deeply. */
export function readJsonObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = parseText(text)
    return isObject(value) && !isTooDeep(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Whether a text is a JSON object that can be the config or the summary of a run. */
export function isDocument(text: string): boolean {
  if (!readJsonObject(text)) return false
  const { containers, commas } = outlineJson(Buffer.from(text))
  return containers + commas <= maxDocumentValues
}

function isTooDeep(value: unknown, level = 0): boolean {
  if (typeof value !== 'object' || value === null) return false
  return level > maxParsedDepth || Object.values(value).some((member) => isTooDeep(member, level + 1))
}
