import type { Curve } from './curves.ts'
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
  /** Its newest reward and its best one of validation, if they were read. */
  rewards?: RunRewards | undefined
}

export interface RunRewards {
  reward: number | undefined
  best: number | undefined
}

/** What the curves of a run's rewards end with, and their best. */
export function readRewards(curves: Readonly<Record<string, Curve>>): RunRewards {
  const curve = curves['val/reward']
  const values = (curve?.extremes?.high ?? curve?.points ?? []).map(({ value }) => value)
  return {
    reward: curves['reward']?.points.at(-1)?.value,
    best: values.length === 0 ? undefined : Math.max(...values),
  }
}

export const runColumns = ['name', 'activity', 'base', 'step', 'reward', 'best', 'created'] as const
export const newestFirst: Order = { column: 'created', descending: true }

const values: Record<string, (run: Run) => string | number> = {
  name: ({ name }) => name,
  activity: ({ activity }) => activity ?? '',
  base: ({ base_model }) => base_model,
  step: ({ latest_step }) => latest_step,
  // What has none is the least.
  reward: ({ rewards }) => rewards?.reward ?? -Infinity,
  best: ({ rewards }) => rewards?.best ?? -Infinity,
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
    return left === right ? 0 : sign * (Number(left) - Number(right))
  })
}

/** Puts pinned runs first, in the order of the table. */
export function putFirst(runs: readonly Run[], pinned: readonly string[]): Run[] {
  const isPinned = ({ name }: Run) => pinned.includes(name)
  return [...runs.filter(isPinned), ...runs.filter((run) => !isPinned(run))]
}
