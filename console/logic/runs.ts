import type { Order } from './search.ts'

/** What the table of runs knows of a run. */
export interface Run {
  id: string
  name: string
  base_model: string
  latest_step: number
  created_at: string
  aliases: Record<string, number>
  loaded_engines: number
  /** The state of its oldest unfinished job. */
  activity: string | undefined
}

export const runColumns = ['name', 'activity', 'base', 'step', 'created'] as const
export const newestFirst: Order = { column: 'created', descending: true }

const values: Record<string, (run: Run) => string | number> = {
  name: ({ name }) => name,
  activity: ({ activity }) => activity ?? '',
  base: ({ base_model }) => base_model,
  step: ({ latest_step }) => latest_step,
  created: ({ created_at }) => created_at,
}

/** The runs that have all words of a text in their name, base model or aliases. */
export function filterRuns(runs: readonly Run[], text = '', baseModel?: string): Run[] {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  return runs.filter(({ name, base_model, aliases, activity }) => {
    if (baseModel !== undefined && base_model !== baseModel) return false
    const all = [name, base_model, activity ?? '', ...Object.keys(aliases)].join('\n').toLowerCase()
    return words.every((word) => all.includes(word))
  })
}

export function sortRuns(runs: readonly Run[], { column, descending }: Order): Run[] {
  const value = values[column] ?? values['created']!
  const sign = descending ? -1 : 1
  return runs.toSorted((a, b) => {
    const [left, right] = [value(a), value(b)]
    if (typeof left === 'string' && typeof right === 'string')
      return sign * left.localeCompare(right, 'en', { numeric: true })
    return sign * (Number(left) - Number(right))
  })
}

/** Puts pinned runs first, in the order of the table. */
export function putFirst(runs: readonly Run[], pinned: readonly string[]): Run[] {
  const isPinned = ({ name }: Run) => pinned.includes(name)
  return [...runs.filter(isPinned), ...runs.filter((run) => !isPinned(run))]
}
