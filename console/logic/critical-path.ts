import type { Span, Trace } from './span-tree.ts'

/** The spans that decide how long a trace takes: if one of them were faster, so would be the trace. */
export interface CriticalPath {
  /** How much of the trace's duration each span decides itself, in milliseconds, by the span's index. */
  ownMs: Float64Array
  /** Whether a span is on the path, by its index. Its parents are too. */
  isOn: Uint8Array
}

/**
 * Finds the critical path. At each moment it is what the parent waits for: from the end of a span back in time, the child
 * that ended last, then the one that ended last before that child began. What lies between is the span's own. It takes no
 * recursion, as traces are thousands of levels deep.
 */
export function findCriticalPath({ spans, durationMs }: Trace): CriticalPath {
  const path = { ownMs: new Float64Array(spans.length), isOn: new Uint8Array(spans.length) }
  const children = groupChildren(spans)
  // Roots are what the trace itself waits for.
  const pending = walkBack(spans, children.get(-1) ?? [], { fromMs: 0, untilMs: durationMs }).waited
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { ownMs, waited } = walkBack(spans, children.get(next.index) ?? [], next)
    path.isOn[next.index] = 1
    path.ownMs[next.index] = ownMs
    pending.push(...waited)
  }
  return path
}

interface Range {
  fromMs: number
  untilMs: number
}

/** The children that a span waits for within a range, each with its own range, and the time that none of them takes. */
function walkBack(spans: readonly Span[], children: readonly number[], { fromMs, untilMs }: Range) {
  const endOf = (index: number) => spans[index]!.startMs + spans[index]!.durationMs
  const waited: (Range & { index: number })[] = []
  let [ownMs, atMs] = [0, untilMs]
  for (const index of children.toSorted((a, b) => endOf(b) - endOf(a))) {
    const { startMs } = spans[index]!
    if (startMs >= atMs) continue
    const range = { fromMs: Math.max(fromMs, startMs), untilMs: Math.min(atMs, endOf(index)) }
    if (range.untilMs <= range.fromMs) continue
    waited.push({ index, ...range })
    ownMs += atMs - range.untilMs
    atMs = range.fromMs
  }
  return { waited, ownMs: ownMs + atMs - fromMs }
}

function groupChildren(spans: readonly Span[]): Map<number, number[]> {
  const children = new Map<number, number[]>()
  spans.forEach(({ parent }, index) => {
    const list = children.get(parent)
    if (list) list.push(index)
    else children.set(parent, [index])
  })
  return children
}

/** The index of the span that decides most of the duration. Undefined for a trace that took no time. */
export function findSlowest({ ownMs }: CriticalPath): number | undefined {
  let slowest: number | undefined
  ownMs.forEach((ms, index) => {
    if (ms > (slowest === undefined ? 0 : ownMs[slowest]!)) slowest = index
  })
  return slowest
}
