import { useEffect, useMemo, useRef, useState, type KeyboardEvent, type MouseEvent } from 'react'
import { defaultRangeExtractor, useVirtualizer, type Range } from '@tanstack/react-virtual'
import { revealHidden } from '../../logic/chat.ts'
import { toggle } from '../../logic/search.ts'
import type { CriticalPath } from '../../logic/critical-path.ts'
import { listParents, listVisible, walk, type Span, type Step, type Trace } from '../../logic/span-tree.ts'
import { formatDuration } from '../../logic/time.ts'
import { actionOf, isParent, unfoldAbove } from '../../logic/tree-keys.ts'
import controls from '../../parts/controls.module.css'
import { useKey } from '../../parts/use-key.ts'
import classes from './call.module.css'

interface TreeProps {
  trace: Trace
  /** The index of the selected span, or -1. */
  selected: number
  path: CriticalPath
  errorsOnly: boolean
  hasErrors: boolean
  pathOnly: boolean
  onErrorsOnly: (isOn: boolean) => void
  onPathOnly: (isOn: boolean) => void
  onSelect: (id: string, isStep: boolean) => void
}

const rowHeight = 28

/** The calls of a trace as a tree beside the time they took. Only the rows that are near the screen are drawn. */
export function Tree({ trace: { spans, durationMs }, selected, path, ...props }: TreeProps) {
  const { errorsOnly, hasErrors, pathOnly, ...on } = props
  const [folded, setFolded] = useState<readonly string[]>([])
  const foldedSet = useMemo(() => new Set(folded), [folded])
  const visible = useMemo(() => {
    const isWanted = ({ leadsToError }: Span, index: number) =>
      (!errorsOnly || leadsToError) && (!pathOnly || path.isOn[index] === 1)
    return listVisible(spans, foldedSet, isWanted)
  }, [spans, foldedSet, errorsOnly, pathOnly, path])
  const parents = useMemo(() => listParents(spans), [spans])
  const at = visible.indexOf(selected)
  const { scroll, virtual, focusNext } = useRows(visible.length, at)

  const go = (index: number | undefined) => {
    const span = spans[index ?? -1]
    if (!span) return
    setFolded(unfoldAbove(spans, span, folded))
    focusNext()
    on.onSelect(span.call.id, true)
  }
  const fold = (index: number) => setFolded(toggle(folded, spans[index]!.call.id))
  const step = (to: Step) => () => go(walk(spans, selected, to))
  useKey('traceParent', step('parent'))
  useKey('traceChild', step('child'))
  useKey('traceNext', step('next'))
  useKey('tracePrevious', step('previous'))
  useKey('path', () => on.onPathOnly(!pathOnly))
  useKey('fold', () => isParent(spans, selected) && fold(selected))

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return
    const from = visible[Math.max(at, 0)] ?? -1
    const act = actionOf(event.key, { spans, visible, at, from, isFolded: foldedSet.has(spans[from]?.call.id ?? '') })
    if (act === undefined) return
    event.preventDefault()
    if (act === 'fold') fold(from)
    else go(act)
  }
  const onClick = ({ target }: MouseEvent) => {
    const index = indexOf(target)
    const span = spans[index]
    if (!span) return
    if (target instanceof HTMLElement && target.closest('[data-fold]')) fold(index)
    else on.onSelect(span.call.id, false)
  }
  return (
    <section className={classes.trace} aria-label="Trace">
      <div className={classes.bar}>
        <button
          type="button"
          className={controls.quiet}
          disabled={parents.length === 0}
          onClick={() => setFolded(folded.length > 0 ? [] : parents)}
        >
          {folded.length > 0 ? 'Unfold all' : 'Fold all'}
        </button>
        <label className={classes.check}>
          <input
            type="checkbox"
            checked={errorsOnly}
            disabled={!hasErrors && !errorsOnly}
            onChange={(event) => on.onErrorsOnly(event.currentTarget.checked)}
          />
          Errors only
        </label>
        <label className={classes.check} title="The calls that decide how long the trace takes">
          <input type="checkbox" checked={pathOnly} onChange={(event) => on.onPathOnly(event.currentTarget.checked)} />
          Critical path only
        </label>
        <span className={classes.scale}>0 – {formatDuration(durationMs)}</span>
      </div>
      {visible.length === 0 && (
        <p className={classes.none}>No call of this trace {pathOnly && 'that decides its duration '}has failed.</p>
      )}
      <div ref={scroll} className={classes.scroll}>
        {/* oxlint-disable-next-line jsx-a11y/interactive-supports-focus -- its rows have the focus */}
        <div
          role="treegrid"
          aria-label="Calls of the trace"
          aria-rowcount={visible.length}
          className={classes.rows}
          style={{ height: virtual.getTotalSize() }}
          onKeyDown={onKeyDown}
          onClick={onClick}
        >
          {virtual.getVirtualItems().map(({ index: row, start }) => {
            const index = visible[row]!
            const span = spans[index]!
            return (
              <Row
                key={span.call.id}
                span={span}
                index={index}
                row={row}
                start={start}
                durationMs={durationMs}
                decidesMs={path.isOn[index] === 1 ? path.ownMs[index] : undefined}
                isOpen={isParent(spans, index) ? !foldedSet.has(span.call.id) : undefined}
                isSelected={index === selected}
                isTabStop={row === Math.max(at, 0)}
              />
            )
          })}
        </div>
      </div>
    </section>
  )
}

/** The rows near the screen, and the one that the tab key reaches. */
function useRows(count: number, at: number) {
  const scroll = useRef<HTMLDivElement>(null)
  const wantsFocus = useRef(false)
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => scroll.current,
    estimateSize: () => rowHeight,
    overscan: 12,
    initialRect: { width: innerWidth, height: innerHeight },
    rangeExtractor: (range: Range) => {
      const shown = defaultRangeExtractor(range)
      const stop = Math.max(at, 0)
      return stop >= count || shown.includes(stop) ? shown : [...shown, stop]
    },
  })
  useEffect(() => {
    if (at >= 0) virtual.scrollToIndex(at, { align: 'auto' })
    if (!wantsFocus.current) return
    wantsFocus.current = false
    scroll.current?.querySelector<HTMLElement>('[aria-selected=true]')?.focus({ preventScroll: true })
  }, [virtual, at])
  return { scroll, virtual, focusNext: () => (wantsFocus.current = true) }
}

interface RowProps {
  span: Span
  index: number
  row: number
  start: number
  durationMs: number
  /** How much of the duration it decides itself. Undefined if it is not on the critical path. */
  decidesMs: number | undefined
  /** Undefined for a call without calls in it. */
  isOpen: boolean | undefined
  isSelected: boolean
  isTabStop: boolean
}

const maxIndent = 16

function Row({ span, index, row, start, durationMs, decidesMs, isOpen, isSelected, isTabStop }: RowProps) {
  const { level, siblings, position, name, hasError, leadsToError, isRunning } = span
  const [left, width] = [span.startMs, span.durationMs].map((ms) => (100 * ms) / Math.max(durationMs, 1e-3))
  return (
    <div
      role="row"
      aria-rowindex={row + 1}
      aria-level={level}
      aria-setsize={siblings}
      aria-posinset={position}
      aria-expanded={isOpen}
      aria-selected={isSelected}
      tabIndex={isTabStop ? 0 : -1}
      data-index={index}
      className={classes.row}
      style={{ transform: `translateY(${start}px)` }}
    >
      <div role="gridcell" className={classes.name} style={{ paddingLeft: Math.min(level - 1, maxIndent) * 14 }}>
        <span className={classes.fold} data-fold={isOpen !== undefined ? '' : undefined} aria-hidden="true">
          {isOpen === undefined ? '' : isOpen ? '▾' : '▸'}
        </span>
        {hasError && <b className={classes.failed}>✕ </b>}
        {!hasError && leadsToError && isOpen === false && <b className={classes.failed}>✕ below </b>}
        {revealHidden(name)}
      </div>
      <div role="gridcell" className={classes.took}>
        {isRunning ? 'running' : formatDuration(span.durationMs)}
      </div>
      <div role="gridcell" className={classes.time} aria-label={describeTime(span, decidesMs)}>
        <span
          className={classes.span}
          data-error={hasError}
          data-running={isRunning}
          data-critical={decidesMs !== undefined}
          style={{ left: `${left}%`, width: `${width}%` }}
        />
      </div>
    </div>
  )
}

function describeTime({ startMs }: Span, decidesMs: number | undefined): string {
  const begins = `begins after ${formatDuration(startMs)}`
  return decidesMs === undefined ? begins : `${begins}, decides ${formatDuration(decidesMs)} of the trace`
}

function indexOf(target: EventTarget): number {
  const row = target instanceof Element ? target.closest<HTMLElement>('[data-index]') : null
  return row ? Number(row.dataset['index']) : -1
}
