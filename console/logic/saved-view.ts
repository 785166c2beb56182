import { joinPath, splitPath } from './calls.ts'
import { readRequest, writeRequest, type CallFilters } from './call-query.ts'
import { writeFilters, writeSortBy, type CallSearch } from './call-search.ts'
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
  columns?: { path?: (string | number)[] | null; label?: string | null }[] | null
  sort_by?: { field: string; direction: 'asc' | 'desc' }[] | null
}

/** Writes what a table shows as a view. */
export function writeView(
  { filters, order, paths }: { filters: CallFilters; order: Order; paths: readonly string[] },
  project: string,
): ViewDefinition {
  return {
    ...writeRequest(filters, project),
    columns: paths.map((path) => ({ path: splitPath(path) })),
    sort_by: writeSortBy(order),
  }
}

const payload = /^(attributes|inputs|output)(\.|$)/

/** The address of the table that a view describes. Columns that the table always has are left out. */
export function readView({ filter, query, columns, sort_by: sortBy }: ViewDefinition): CallSearch {
  const paths = (columns ?? [])
    .map(({ path }) => joinPath((path ?? []).map(String)))
    .filter((path) => payload.test(path))
  const [key] = sortBy ?? []
  const column = key && (names[key.field] ?? (payload.test(key.field) ? key.field : undefined))
  const sort = column === undefined || (column === 'started' && key!.direction === 'desc') ? undefined : column
  return {
    ...writeFilters(readRequest({ filter, query })),
    cols: writeList(paths),
    sort: sort && `${key!.direction === 'desc' ? '-' : ''}${sort}`,
  }
}

const names: Readonly<Record<string, string>> = {
  started_at: 'started',
  op_name: 'name',
  'summary.weave.trace_name': 'name',
  'summary.weave.status': 'status',
  'summary.weave.total_tokens': 'tokens',
  'summary.weave.latency_ms': 'latency',
}

/** The name of the object of a view. */
export function nameView(label: string): string {
  const name = label
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
  return name === '' ? 'view' : name.slice(0, 100)
}
