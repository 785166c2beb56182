/** A key of the console: what a person presses, and what it does. This table is what `?` shows, and all there is. */
interface Key {
  press: string
  does: string
  where: 'everywhere' | 'lists' | 'steps' | 'traces'
}

export const keys = {
  palette: { press: 'Ctrl K', does: 'Go to a page, a run or any id', where: 'everywhere' },
  help: { press: '?', does: 'Show these keys', where: 'everywhere' },
  filter: { press: '/', does: 'Go to the filter', where: 'everywhere' },
  copy: { press: 'c', does: 'Copy the id of what is shown', where: 'everywhere' },
  overview: { press: 'g o', does: 'Go to the overview', where: 'everywhere' },
  runs: { press: 'g r', does: 'Go to the runs', where: 'everywhere' },
  traces: { press: 'g t', does: 'Go to the traces', where: 'everywhere' },
  dataSets: { press: 'g d', does: 'Go to the data sets', where: 'everywhere' },
  playground: { press: 'g l', does: 'Go to the playground', where: 'everywhere' },
  projects: { press: 'g p', does: 'Go to the projects', where: 'everywhere' },
  next: { press: 'j', does: 'Next in the list', where: 'lists' },
  previous: { press: 'k', does: 'Previous in the list', where: 'lists' },
  close: { press: 'Escape', does: 'Close what is beside the list', where: 'lists' },
  stepBack: { press: '[', does: 'One step back', where: 'steps' },
  stepOn: { press: ']', does: 'One step on', where: 'steps' },
  traceParent: { press: 'Alt ←', does: 'Go to the call that called it', where: 'traces' },
  traceChild: { press: 'Alt →', does: 'Go to the first call in it', where: 'traces' },
  tracePrevious: { press: 'Alt ↑', does: 'Previous call beside it', where: 'traces' },
  traceNext: { press: 'Alt ↓', does: 'Next call beside it', where: 'traces' },
  path: { press: 'p', does: 'Show only what decides the duration', where: 'traces' },
  fold: { press: 'e', does: 'Fold the call, or unfold it', where: 'traces' },
} as const satisfies Record<string, Key>

export type KeyName = keyof typeof keys

/** What is known of a pressed key. */
export interface Pressed {
  key: string
  ctrlKey: boolean
  metaKey: boolean
  altKey: boolean
  /** Whether it was pressed in a field, which takes characters itself. */
  isInField: boolean
}

const arrows: Record<string, string> = { ArrowLeft: '←', ArrowRight: '→', ArrowUp: '↑', ArrowDown: '↓' }

/** What a key does after `before`, the one that was pressed last. */
export function readKey({ key, ctrlKey, metaKey, altKey, isInField }: Pressed, before: string): KeyName | undefined {
  const isCommand = ctrlKey || metaKey
  if (altKey && isCommand) return undefined
  // Fields keep all keys but this one and Escape.
  if (isInField && !isCommand && key !== 'Escape') return undefined
  const press = isCommand ? `Ctrl ${key.toUpperCase()}` : altKey ? `Alt ${arrows[key] ?? key}` : key
  const names = Object.keys(keys) as KeyName[]
  const find = (wanted: string) => names.find((name) => keys[name].press === wanted)
  return before === 'g' && !isCommand && !altKey ? (find(`g ${key}`) ?? find(press)) : find(press)
}

/** The keys of each screen, for the help. */
export function listKeys(): { where: Key['where']; keys: Key[] }[] {
  const groups = Map.groupBy(Object.values<Key>(keys), ({ where }) => where)
  return [...groups].map(([where, own]) => ({ where, keys: own }))
}
