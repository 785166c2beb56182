import { useCallback, useMemo } from 'react'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import type { CallsQuery } from '../../data/calls.ts'
import {
  callColumns,
  readCallOrder,
  readFilters,
  writeColumns,
  writeSortBy,
  type CallSearch,
} from '../../logic/call-search.ts'
import { writeRequest, type CallFilters } from '../../logic/call-query.ts'
import { readList, type Order } from '../../logic/search.ts'

// What an address has besides what is read.
const besides = { peek: undefined, tab: undefined, view: undefined, cost: undefined }

/** The state of the table: it is in the address. */
export interface TracesState {
  entity: string
  project: string
  projectId: string
  search: CallSearch
  filters: CallFilters
  /** The columns that a person has added: paths of payloads. */
  paths: string[]
  hidden: string[]
  order: Order
  body: CallsQuery
  change: (changes: CallSearch) => void
}

export function useTraces(rootsOnly: boolean): TracesState {
  const { entity, project } = useParams({ from: '/inside/$entity/$project' })
  const search: CallSearch = useSearch({ strict: false })
  const navigate = useNavigate()
  const projectId = `${entity}/${project}`
  const change = useCallback(
    (changes: CallSearch) =>
      void navigate({ to: '.', search: ((all: CallSearch) => ({ ...all, ...changes })) as never, replace: true }),
    [navigate],
  )
  const address = JSON.stringify({ ...search, ...besides })
  return useMemo(() => {
    const set = JSON.parse(address) as CallSearch
    const filters = readFilters(set, rootsOnly)
    const chosen = readList(set.cols)
    const hidden = chosen.filter((name) => name.startsWith('-')).map((name) => name.slice(1))
    const paths = chosen.filter((name) => !name.startsWith('-') && !(callColumns as readonly string[]).includes(name))
    const order = readCallOrder(set.sort, paths)
    const body: CallsQuery = {
      project_id: projectId,
      ...writeRequest(filters, projectId),
      columns: writeColumns(paths),
      sort_by: writeSortBy(order),
      include_costs: true,
      include_feedback: true,
    }
    return { entity, project, projectId, search, filters, paths, hidden, order, body, change }
    // The rest of the address does not change what is read.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [address, search, rootsOnly, projectId, change])
}
