import { buildKeySet } from '../../../db/runs/build-key-set.ts'
import type { NewLine } from '../../../db/runs/write-lines.ts'
import { cleanJsonText, readJsonObject } from '../json-text.ts'

// Postgres stores no line number or step beyond these.
const maxStep = Number.MAX_SAFE_INTEGER

/**
 * Reads a line of history. A line that is no JSON object becomes an empty one: an error would make the client drop all
 * lines after it.
 */
export function readHistoryLine(text: string, line: number): NewLine {
  const clean = cleanJsonText(text)
  const values = readJsonObject(clean)
  if (!values) return { text: '{}', step: line }
  const step = values['_step']
  const isStep = typeof step === 'number' && Math.abs(step) <= maxStep
  const keySet = buildKeySet(values)
  return { text: clean, step: isStep ? Math.trunc(step) : line, ...(keySet && { keySet }) }
}
