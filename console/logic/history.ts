import type { Point } from './series.ts'

/** The names of the metrics that a chart can show. The SDK writes its own, which begin with an underscore, and the system's. */
export function listNumbers(keys: readonly { key: string; type: string }[]): string[] {
  return keys.filter(({ key, type }) => type === 'number' && !/^(?:_|system\/)/.test(key)).map(({ key }) => key)
}

/** The points of a metric in the order of their steps. Texts such as NaN are no points. */
export function readHistory(rows: readonly Readonly<Record<string, unknown>>[], key: string): Point[] {
  const points = rows.flatMap((row, index) => {
    const value = row[key]
    const step = row['_step']
    return typeof value === 'number' ? [{ step: typeof step === 'number' ? step : index, value }] : []
  })
  return points.toSorted((a, b) => a.step - b.step)
}
