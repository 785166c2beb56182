import { latencyOf, millisecondsOf, nameCall, statusOf, type Call } from './calls.ts'

/** A call in its trace. Spans are in the order in which a tree shows them, so that a tree is a flat list. */
export interface Span {
  call: Call
  name: string
  /** From 1. */
  level: number
  /** Its position among its siblings, from 1, and how many they are. */
  position: number
  siblings: number
  /** The index of its parent, or -1. */
  parent: number
  /** The index after its last descendant. */
  end: number
  /** Milliseconds after the begin of the trace. */
  startMs: number
  durationMs: number
  isRunning: boolean
  hasError: boolean
  /** Whether it or a descendant failed. */
  leadsToError: boolean
}

export interface Trace {
  spans: Span[]
  durationMs: number
}

/**
 * Arranges the calls of a trace as a tree, in the order of time. It takes no recursion: traces are thousands of levels
 * deep or wide. A call whose parent is not there is a root. Parents in a circle are cut at one of them.
 */
export function buildTrace(calls: readonly Call[], nowMs: number): Trace {
  const inTime = calls
    .map((call) => ({ call, startMs: millisecondsOf(call.started_at) }))
    .toSorted((a, b) => a.startMs - b.startMs || (a.call.id < b.call.id ? -1 : 1))
  const children = groupByParent(inTime)
  const begin = inTime[0]?.startMs ?? 0
  const spans: Span[] = []
  const seen = new Set<string>()
  const pending = listPending(children.get('') ?? [], -1, 1)
  const addAll = () => {
    for (let next = pending.pop(); next; next = pending.pop()) {
      const { node, parent, level, position, siblings } = next
      if (seen.has(node.call.id)) continue
      seen.add(node.call.id)
      const index = spans.push(writeSpan(node, { parent, level, position, siblings, begin, nowMs })) - 1
      pending.push(...listPending(children.get(node.call.id) ?? [], index, level + 1))
    }
  }
  addAll()
  for (const node of inTime) {
    if (seen.has(node.call.id)) continue
    pending.push(...listPending([node], -1, 1))
    addAll()
  }
  closeSpans(spans)
  return { spans, durationMs: spans.reduce((most, span) => Math.max(most, span.startMs + span.durationMs), 0) }
}

interface Node {
  call: Call
  startMs: number
}

function groupByParent(nodes: readonly Node[]): Map<string, Node[]> {
  const ids = new Set(nodes.map(({ call }) => call.id))
  const children = new Map<string, Node[]>()
  for (const node of nodes) {
    const { parent_id: parentId, id } = node.call
    const parent = parentId && parentId !== id && ids.has(parentId) ? parentId : ''
    const list = children.get(parent)
    if (list) list.push(node)
    else children.set(parent, [node])
  }
  return children
}

/** The last is taken first. */
function listPending(nodes: readonly Node[], parent: number, level: number) {
  return nodes.map((node, index) => ({ node, parent, level, position: index + 1, siblings: nodes.length })).toReversed()
}

function writeSpan(
  { call, startMs }: Node,
  where: Pick<Span, 'parent' | 'level' | 'position' | 'siblings'> & { begin: number; nowMs: number },
): Span {
  const { begin, nowMs, ...position } = where
  const latency = latencyOf(call)
  const hasError = statusOf(call) === 'error'
  return {
    ...position,
    call,
    name: nameCall(call),
    end: 0,
    startMs: startMs - begin,
    durationMs: latency ?? Math.max(0, nowMs - startMs),
    isRunning: latency === undefined,
    hasError,
    leadsToError: hasError,
  }
}

/** Computes from the end what depends on descendants. */
function closeSpans(spans: Span[]): void {
  for (let index = spans.length - 1; index >= 0; index--) {
    const span = spans[index]!
    span.end = Math.max(span.end, index + 1)
    const parent = spans[span.parent]
    if (!parent) continue
    parent.end = Math.max(parent.end, span.end)
    parent.leadsToError ||= span.leadsToError
  }
}

/** The indices of the spans that a tree shows: nothing below what is folded, or is not wanted. */
export function listVisible(
  spans: readonly Span[],
  folded: ReadonlySet<string>,
  isWanted: (span: Span, index: number) => boolean,
): number[] {
  const visible: number[] = []
  for (let index = 0; index < spans.length;) {
    const span = spans[index]!
    if (!isWanted(span, index)) {
      index = span.end
      continue
    }
    visible.push(index)
    index = folded.has(span.call.id) ? span.end : index + 1
  }
  return visible
}

/** The spans that have children. Folding them all leaves the roots. */
export function listParents(spans: readonly Span[]): string[] {
  return spans.filter((span, index) => span.end > index + 1).map(({ call }) => call.id)
}

export type Step = 'parent' | 'child' | 'next' | 'previous'

/** The index of the span in a direction. Undefined if there is none. */
export function walk(spans: readonly Span[], from: number, step: Step): number | undefined {
  const span = spans[from]
  if (!span) return undefined
  if (step === 'parent') return span.parent === -1 ? undefined : span.parent
  if (step === 'child') return span.end > from + 1 ? from + 1 : undefined
  if (step === 'next') return spans[span.end]?.parent === span.parent && span.end < spans.length ? span.end : undefined
  let before: number | undefined
  for (let at = span.parent + 1; at < from; at = spans[at]!.end) before = at
  return before
}
