import { isObject, joinPath, splitPath } from './calls.ts'
import { readRequest, writeRequest, type CallFilters } from './call-query.ts'
import { callColumns, writeFilters, writeSortBy, type CallSearch } from './call-search.ts'
import { writeList, type Order } from './search.ts'

/** A view of weave's class SavedView. */
export interface SavedView {
  /** The name of its object. */
  name: string
  label: string
  definition: ViewDefinition
}

export interface ViewDefinition {
  filter?: unknown
  query?: unknown
  /** Which columns are shown, by their names. */
  cols?: Record<string, boolean> | null
  columns?: { path?: (string | number)[] | null; label?: string | null }[] | null
  sort_by?: { field: string; direction: 'asc' | 'desc' }[] | null
}

const classMembers = new Set(['_type', '_class_name', '_bases'])

/** A definition as a client has written it. The server stores with each part of it of which class it is. */
export function readDefinition(stored: unknown): ViewDefinition {
  return removeClasses(stored) as ViewDefinition
}

function removeClasses(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(removeClasses)
  if (!isObject(value)) return value
  const own = Object.entries(value).filter(([name]) => !classMembers.has(name))
  return Object.fromEntries(own.map(([name, member]) => [name, removeClasses(member)]))
}

/** What a table shows. */
interface Shown {
  filters: CallFilters
  order: Order
  paths: readonly string[]
  hidden: readonly string[]
}

/** Writes what a table shows as a view. */
export function writeView({ filters, order, paths, hidden }: Shown, project: string): ViewDefinition {
  return {
    ...writeRequest(filters, project),
    cols: Object.fromEntries(hidden.map((name) => [name, false])),
    columns: paths.map((path) => ({ path: splitPath(path) })),
    sort_by: writeSortBy(order),
  }
}

const payload = /^(attributes|inputs|output)(\.|$)/

/** The address of the table that a view describes. Columns that the table always has are left out. */
export function readView({ filter, query, cols, columns, sort_by: sortBy }: ViewDefinition): CallSearch {
  const hidden = callColumns.filter((name) => cols?.[name] === false).map((name) => `-${name}`)
  const paths = (columns ?? [])
    .map(({ path }) => joinPath((path ?? []).map(String)))
    .filter((path) => payload.test(path))
  const [key] = sortBy ?? []
  const column = key && (names.get(key.field) ?? (payload.test(key.field) ? key.field : undefined))
  const sort = column === undefined || (column === 'started' && key!.direction === 'desc') ? undefined : column
  return {
    ...writeFilters(readRequest({ filter, query })),
    cols: writeList([...hidden, ...paths]),
    sort: sort && `${key!.direction === 'desc' ? '-' : ''}${sort}`,
  }
}

const names: ReadonlyMap<string, string> = new Map(
  Object.entries({
    started_at: 'started',
    op_name: 'name',
    'summary.weave.trace_name': 'name',
    'summary.weave.status': 'status',
    'summary.weave.total_tokens': 'tokens',
    'summary.weave.latency_ms': 'latency',
  }),
)

/**
 * The name of the object of a view: that of the view with this label, or one made of the label. Labels whose letters a name
 * cannot have differ by their digest, and so does a label whose name another view has kept.
 */
export function nameView(label: string, views: readonly Pick<SavedView, 'name' | 'label'>[] = []): string {
  const own = views.find((view) => view.label === label)
  if (own) return own.name
  const words = (label.toLowerCase().match(/[a-z0-9]+/g) ?? ['view']).join('-').slice(0, 100)
  const isPlain = /^[a-z0-9 -]+$/i.test(label) && !views.some(({ name }) => name === words)
  return isPlain ? words : `${words}-${digest(label)}`
}

/** FNV-1a, in few characters. */
function digest(text: string): string {
  let hash = 0x81_1c_9d_c5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01_00_01_93)
  return (hash >>> 0).toString(36)
}
