import { walk, type Span } from './span-tree.ts'

/** Whether calls are in a span. */
export const isParent = (spans: readonly Span[], index: number) => (spans[index]?.end ?? 0) > index + 1

/** The folded calls without those above a span. */
export function unfoldAbove(spans: readonly Span[], span: Span, folded: readonly string[]): readonly string[] {
  const above = new Set<string>()
  for (let parent = spans[span.parent]; parent; parent = spans[parent.parent]) above.add(parent.call.id)
  return folded.some((id) => above.has(id)) ? folded.filter((id) => !above.has(id)) : folded
}

interface TreeState {
  spans: readonly Span[]
  visible: readonly number[]
  at: number
  from: number
  isFolded: boolean
}

/** What a key does in a tree: it folds the row, or goes to the span that is returned. */
export function actionOf(key: string, { spans, visible, at, from, isFolded }: TreeState): 'fold' | number | undefined {
  const canOpen = isParent(spans, from)
  switch (key) {
    case 'ArrowDown':
      return visible[at + 1]
    case 'ArrowUp':
      return visible[at - 1]
    case 'Home':
      return visible[0]
    case 'End':
      return visible.at(-1)
    case 'ArrowRight':
      return canOpen && isFolded ? 'fold' : walk(spans, from, 'child')
    case 'ArrowLeft':
      return canOpen && !isFolded ? 'fold' : walk(spans, from, 'parent')
    default:
      return undefined
  }
}
