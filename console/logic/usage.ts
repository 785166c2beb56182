import { dayMs } from './time.ts'

/** The usage of a group on a day. */
export interface UsageRow {
  day?: string | undefined
  project?: string | null | undefined
  model?: string | undefined
  model_id?: string | null | undefined
  key_id?: string | null | undefined
  requests: number
  prompt_tokens: number
  completion_tokens: number
  trained_tokens: number
  training_seconds: number
  gpu_seconds: number
}

export const usageGroups = ['project', 'model', 'key'] as const
export type UsageGroup = (typeof usageGroups)[number]

export const usageMeasures = [
  'requests',
  'completion_tokens',
  'prompt_tokens',
  'trained_tokens',
  'training_seconds',
  'gpu_seconds',
] as const
export type UsageMeasure = (typeof usageMeasures)[number]

/** A group with its value on each day. */
export interface UsageSeries {
  name: string
  values: number[]
  total: number
}

// The chart has eight colours; the last one is that of all others.
const maxSeries = 8

/** The last days until today, in UTC, as the API names them. */
export function listDays(count: number, now: number): string[] {
  return Array.from({ length: count }, (_, index) =>
    new Date(now - (count - 1 - index) * dayMs).toISOString().slice(0, 10),
  )
}

/** What the group of a row is called. `keyNames` are those of keys by their ids, as far as they are known. */
export function nameGroup(row: UsageRow, by: UsageGroup, keyNames: ReadonlyMap<string, string>): string {
  if (by === 'project') return row.project ?? 'no project'
  if (by === 'model') return row.model === undefined || row.model === '' ? 'unknown' : row.model
  return row.key_id == null ? 'no key' : (keyNames.get(row.key_id) ?? `key ${row.key_id.slice(0, 8)}`)
}

/** Arranges rows as series by day, the largest first. Small groups are one series. */
export function arrangeUsage(
  rows: readonly UsageRow[],
  days: readonly string[],
  { measure, nameOf }: { measure: UsageMeasure; nameOf: (row: UsageRow) => string },
): UsageSeries[] {
  const series = [...Map.groupBy(rows, nameOf)]
    .map(([name, own]) => sumByDay(name, own, days, measure))
    .filter(({ total }) => total > 0)
    .toSorted((a, b) => b.total - a.total)
  if (series.length <= maxSeries) return series
  const others = series.slice(maxSeries - 1)
  const values = days.map((_, index) => others.reduce((sum, each) => sum + each.values[index]!, 0))
  const total = others.reduce((sum, each) => sum + each.total, 0)
  return [...series.slice(0, maxSeries - 1), { name: `${others.length} others`, values, total }]
}

function sumByDay(
  name: string,
  rows: readonly UsageRow[],
  days: readonly string[],
  measure: UsageMeasure,
): UsageSeries {
  const byDay = new Map<string | undefined, number>()
  for (const row of rows) byDay.set(row.day, (byDay.get(row.day) ?? 0) + row[measure])
  const values = days.map((day) => byDay.get(day) ?? 0)
  return { name, values, total: values.reduce((sum, value) => sum + value, 0) }
}
