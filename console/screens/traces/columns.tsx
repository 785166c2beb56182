import {
  costOf,
  latencyOf,
  listUsage,
  nameCall,
  statusOf,
  tokensOf,
  valueAt,
  writeCell,
  type Call,
  type Feedback,
} from '../../logic/calls.ts'
import { callColumns, isSortable } from '../../logic/call-search.ts'
import { revealHidden } from '../../logic/chat.ts'
import { formatCompact, formatMoney } from '../../logic/numbers.ts'
import { formatDuration } from '../../logic/time.ts'
import { Age } from '../../parts/badges.tsx'
import { CallStatusMark } from '../../parts/call-status.tsx'
import type { Column } from '../../parts/table.tsx'
import classes from './traces.module.css'

type OwnColumn = (typeof callColumns)[number]

interface Shape {
  paths: readonly string[]
  hidden: readonly string[]
  onOpen: (id: string) => void
}

/** The columns of the table: those that are always there, and the paths that a person has added before the time. */
export function listColumns({ paths, hidden, onOpen }: Shape): Column<Call>[] {
  const name: Column<Call> = {
    id: 'name',
    head: 'Name',
    width: 'minmax(180px, 2fr)',
    isSortable: true,
    cell: (call) => (
      <button type="button" data-row onClick={() => onOpen(call.id)}>
        {revealHidden(nameCall(call))}
      </button>
    ),
  }
  const own = callColumns.flatMap((id) => (id === 'name' || hidden.includes(id) ? [] : [{ id, ...columns[id] }]))
  return [name, ...own.slice(0, -1), ...paths.map(pathColumn), ...own.slice(-1)]
}

function pathColumn(path: string): Column<Call> {
  return {
    id: path,
    head: path,
    width: 'minmax(140px, 1.5fr)',
    isSortable: true,
    cell: (call) => <span className={classes.dim}>{revealHidden(writeCell(valueAt(call, path)))}</span>,
  }
}

const columns: Record<Exclude<OwnColumn, 'name'>, Omit<Column<Call>, 'id'>> = {
  status: {
    head: 'Status',
    width: '100px',
    isSortable: isSortable('status'),
    cell: (call) => <CallStatusMark status={statusOf(call)} />,
  },
  model: {
    head: 'Model',
    width: 'minmax(90px, 1fr)',
    cell: (call) => (
      <span className={classes.dim}>
        {revealHidden(
          listUsage(call)
            .map(({ model }) => model)
            .join(', '),
        )}
      </span>
    ),
  },
  tokens: {
    head: 'Tokens',
    width: '76px',
    isNumber: true,
    isSortable: isSortable('tokens'),
    cell: (call) => formatOr(tokensOf(call), formatCompact),
  },
  cost: { head: 'Cost', width: '80px', isNumber: true, cell: (call) => formatOr(costOf(call), formatMoney) },
  latency: {
    head: 'Latency',
    width: '84px',
    isNumber: true,
    isSortable: isSortable('latency'),
    cell: (call) => formatOr(latencyOf(call), formatDuration),
  },
  feedback: {
    head: 'Feedback',
    width: '84px',
    cell: ({ summary }) => <span>{writeFeedback(summary?.weave?.feedback ?? [])}</span>,
  },
  started: {
    head: 'Started',
    width: '96px',
    isNumber: true,
    isSortable: isSortable('started'),
    cell: ({ started_at: startedAt }) => <Age time={startedAt} />,
  },
}

function formatOr(value: number | undefined, format: (value: number) => string): string {
  return value === undefined ? '' : format(value)
}

/** Emojis as they are; all else as a number. */
function writeFeedback(feedback: readonly Feedback[]): string {
  const emojis = feedback.map(({ payload }) => payload?.['emoji']).filter((emoji) => typeof emoji === 'string')
  const others = feedback.length - emojis.length
  return [...new Set(emojis), ...(others > 0 ? [`✎ ${others}`] : [])].join(' ')
}
