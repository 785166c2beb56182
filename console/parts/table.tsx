import { useEffect, useRef, type CSSProperties, type ReactNode } from 'react'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import type { RowList } from '../logic/paged-rows.ts'
import type { Order } from '../logic/search.ts'
import classes from './table.module.css'

export interface Column<Row> {
  id: string
  head: string
  /** Its width, as a track of a CSS grid. */
  width: string
  isNumber?: boolean
  isSortable?: boolean
  cell: (row: Row) => ReactNode
}

interface TableProps<Row> {
  label: string
  columns: readonly Column<Row>[]
  rows: RowList<Row>
  keyOf: (row: Row) => string
  order?: Order
  onOrder?: (column: string) => void
  /** The row that is selected, by its key. */
  selected?: string | undefined
  /** How many columns after the first one stay when the others scroll sideways, too. */
  pinned?: number
  /** Called with the indexes of the rows that are near the screen. */
  onRange?: (first: number, last: number) => void
}

const rowHeight = 32

/** A table that draws only the rows that are near the screen. The first columns stay while others scroll sideways. */
export function Table<Row>({ label, columns, rows, keyOf, selected, pinned = 0, ...on }: TableProps<Row>) {
  const { order, onOrder, onRange } = on
  const body = useRef<HTMLDivElement>(null)
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => rowHeight,
    overscan: 12,
    scrollMargin: body.current?.offsetTop ?? 0,
    // Without this, the first rows would come with the second frame.
    initialRect: { width: innerWidth, height: innerHeight },
  })
  const tracks = { '--tracks': columns.map(({ width }) => width).join(' ') } as CSSProperties
  const items = virtual.getVirtualItems()
  const [first, last] = [items[0]?.index ?? 0, items.at(-1)?.index ?? 0]
  useEffect(() => onRange?.(first, last), [first, last, onRange])
  useEffect(() => {
    const index = selected === undefined ? -1 : rows.findIndex((row) => keyOf(row) === selected)
    if (index >= 0) virtual.scrollToIndex(index)
    // Who scrolls away from it may do so.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [selected])
  return (
    <div className={classes.scroll}>
      <div role="table" aria-label={label} aria-rowcount={rows.length + 1} className={classes.table} style={tracks}>
        <div role="row" aria-rowindex={1} className={classes.head}>
          <Cells
            pinned={pinned}
            cells={columns.map((column) => (
              <Head key={column.id} column={column} order={order} onOrder={onOrder} />
            ))}
          />
        </div>
        <div ref={body} role="rowgroup" className={classes.body} style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, start }) => {
            const row = rows.at(index)
            const key = row && keyOf(row)
            const offset = { transform: `translateY(${start - virtual.options.scrollMargin}px)` }
            return (
              <div
                key={key ?? index}
                role="row"
                aria-rowindex={index + 2}
                data-selected={key !== undefined && key === selected}
                aria-busy={!row}
                className={classes.row}
                style={offset}
              >
                <Cells
                  pinned={pinned}
                  cells={columns.map(({ id, isNumber, cell }) => (
                    <div key={id} role="cell" className={classes.cell} data-number={isNumber}>
                      {row && cell(row)}
                    </div>
                  ))}
                />
              </div>
            )
          })}
        </div>
      </div>
    </div>
  )
}

/** The cells of a row: those that stay, and those that scroll. */
function Cells({ cells, pinned }: { cells: readonly ReactNode[]; pinned: number }) {
  const count = pinned + 1
  return (
    <>
      <div className={classes.pinned} style={{ gridColumn: `span ${count}` }}>
        {cells.slice(0, count)}
      </div>
      {cells.slice(count)}
    </>
  )
}

function Head<Row>({
  column: { id, head, isNumber, isSortable },
  order,
  onOrder,
}: {
  column: Column<Row>
  order: Order | undefined
  onOrder: ((column: string) => void) | undefined
}) {
  const isOrdered = order?.column === id
  const sort = isOrdered ? { 'aria-sort': order.descending ? ('descending' as const) : ('ascending' as const) } : {}
  return (
    <div role="columnheader" className={classes.cell} data-number={isNumber} {...sort}>
      {isSortable && onOrder ? (
        <button type="button" onClick={() => onOrder(id)}>
          {head}
          <span aria-hidden="true">{isOrdered ? (order.descending ? ' ↓' : ' ↑') : ''}</span>
        </button>
      ) : (
        head
      )}
    </div>
  )
}
