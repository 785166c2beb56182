export interface Change {
  kind: 'same' | 'removed' | 'added'
  text: string
}

// The time grows with the square of the edits: so many take a few milliseconds.
const maxEdits = 500

/** Splits text into words with the spaces behind them. */
export function splitWords(text: string): string[] {
  return text.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? []
}

/** What changes the words `a` into the words `b`, by Myers' algorithm. Very different texts are replaced as a whole. */
export function diffWords(a: readonly string[], b: readonly string[]): Change[] {
  const trace = findPath(a, b)
  if (!trace) return [change('removed', a), change('added', b)].filter(({ text }) => text !== '')
  return merge(walkBack(trace, a, b))
}

/** Two turns beside each other; one is missing where only the other conversation has it. */
export interface TurnPair<T> {
  a?: T
  b?: T
}

/** Aligns the turns of two conversations by their roles, so that an added turn shifts nothing. */
export function alignTurns<T extends { role: string }>(a: readonly T[], b: readonly T[]): TurnPair<T>[] {
  const roles = (turns: readonly T[]) => turns.map(({ role }) => role)
  const trace = findPath(roles(a), roles(b))
  if (!trace) return Array.from({ length: Math.max(a.length, b.length) }, (_, at) => pair(a[at], b[at]))
  let [left, right] = [0, 0]
  return walkBack(trace, roles(a), roles(b)).map(({ kind }) =>
    pair(kind === 'added' ? undefined : a[left++], kind === 'removed' ? undefined : b[right++]),
  )
}

function pair<T>(a: T | undefined, b: T | undefined): TurnPair<T> {
  return { ...(a !== undefined && { a }), ...(b !== undefined && { b }) }
}

/** The furthest ends of the paths with 0, 1, 2, ... edits. */
function findPath(a: readonly string[], b: readonly string[]): Map<number, number>[] | undefined {
  const trace: Map<number, number>[] = []
  let ends = new Map([[1, 0]])
  for (let edits = 0; edits <= Math.min(maxEdits, a.length + b.length); edits++) {
    trace.push(ends)
    const next = new Map(ends)
    for (let k = -edits; k <= edits; k += 2) {
      const down = k === -edits || (k !== edits && (ends.get(k - 1) ?? -1) < (ends.get(k + 1) ?? -1))
      let x = down ? (ends.get(k + 1) ?? 0) : (ends.get(k - 1) ?? 0) + 1
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++
      next.set(k, x)
      if (x >= a.length && x - k >= b.length) return trace
    }
    ends = next
  }
  return undefined
}

function walkBack(trace: readonly Map<number, number>[], a: readonly string[], b: readonly string[]): Change[] {
  const changes: Change[] = []
  let [x, y] = [a.length, b.length]
  for (let edits = trace.length - 1; edits >= 0; edits--) {
    const ends = trace[edits]!
    const k = x - y
    const down = k === -edits || (k !== edits && (ends.get(k - 1) ?? -1) < (ends.get(k + 1) ?? -1))
    const before = down ? k + 1 : k - 1
    const beforeX = edits === 0 ? 0 : (ends.get(before) ?? 0)
    const beforeY = edits === 0 ? 0 : beforeX - before
    while (x > beforeX && y > beforeY) {
      changes.push({ kind: 'same', text: a[--x]! })
      y--
    }
    if (edits > 0) changes.push(down ? { kind: 'added', text: b[--y]! } : { kind: 'removed', text: a[--x]! })
  }
  return changes.toReversed()
}

function change(kind: Change['kind'], words: readonly string[]): Change {
  return { kind, text: words.join('') }
}

function merge(changes: readonly Change[]): Change[] {
  const merged: Change[] = []
  for (const { kind, text } of changes) {
    const last = merged.at(-1)
    if (last?.kind === kind) last.text += text
    else merged.push({ kind, text })
  }
  return merged
}
