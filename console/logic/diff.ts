export interface Change {
  kind: 'same' | 'removed' | 'added'
  text: string
}

// Time and memory grow with the square of the edits: so many take a tenth of a second.
const maxEdits = 1_000

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

/** The furthest ends of the paths with 0, 1, 2, ... edits, before each of these: for the diagonals around the middle one. */
function findPath(a: readonly string[], b: readonly string[]): Int32Array[] | undefined {
  const trace: Int32Array[] = []
  const most = Math.min(maxEdits, a.length + b.length)
  const middle = most + 1
  const ends = new Int32Array(2 * most + 3)
  for (let edits = 0; edits <= most; edits++) {
    trace.push(ends.slice(middle - edits - 1, middle + edits + 2))
    for (let k = -edits; k <= edits; k += 2) {
      const [left, right] = [ends[middle + k - 1]!, ends[middle + k + 1]!]
      let x = isDown(k, edits, left < right) ? right : left + 1
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++
      ends[middle + k] = x
      if (x >= a.length && x - k >= b.length) return trace
    }
  }
  return undefined
}

/** Whether the furthest path on a diagonal comes from above: it adds a word. */
function isDown(k: number, edits: number, isRightFurther: boolean): boolean {
  return k === -edits || (k !== edits && isRightFurther)
}

function walkBack(trace: readonly Int32Array[], a: readonly string[], b: readonly string[]): Change[] {
  const changes: Change[] = []
  let [x, y] = [a.length, b.length]
  for (let edits = trace.length - 1; edits >= 0; edits--) {
    const k = x - y
    const endOf = (diagonal: number) => trace[edits]![diagonal + edits + 1]!
    const down = isDown(k, edits, endOf(k - 1) < endOf(k + 1))
    const before = down ? k + 1 : k - 1
    const beforeX = edits === 0 ? 0 : endOf(before)
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
