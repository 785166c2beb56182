import { readField } from './evaluated-fields.ts'
import { compareTexts, readNumber } from './evaluator.ts'
import type { CallRow } from './rows.ts'

interface Sorting {
  sortBy: { field: string; direction: 'asc' | 'desc' }[]
  expandColumns: string[]
}

/** Sorts rows by the requested keys, then by id. */
export function orderRows(rows: CallRow[], { sortBy, expandColumns }: Sorting): CallRow[] {
  return rows.toSorted((a, b) => {
    for (const { field, direction } of sortBy) {
      const order = compareKeys(readKeys(field, a, expandColumns), readKeys(field, b, expandColumns), direction)
      if (order !== 0) return order
    }
    return compareTexts(a.id, b.id)
  })
}

type Key = string | number | null

function readKeys(field: string, row: CallRow, expandColumns: string[]): Key[] {
  const value = readField(field, { row, expandColumns })
  if (value.type === 'several') return dynamicKeys(value.values[0]!)
  if (value.type === 'text' && value.isMissing !== undefined) return dynamicKeys(value)
  return [value.value as Key]
}

/** Numbers come first, by size. Other texts follow, and missing values are last. */
function dynamicKeys(value: { value: unknown; isMissing?: boolean }): Key[] {
  const text = value.isMissing ? null : (value.value as string)
  return [text === null ? null : readNumber(text), text]
}

function compareKeys(a: Key[], b: Key[], direction: 'asc' | 'desc'): number {
  for (const [index, x] of a.entries()) {
    const y = b[index]!
    if (x === null || y === null) {
      if (x !== y) return x === null ? 1 : -1
      continue
    }
    const order = typeof x === 'string' ? compareTexts(x, y as string) : x === y ? 0 : x - (y as number)
    if (order !== 0) return direction === 'asc' ? order : -order
  }
  return 0
}
