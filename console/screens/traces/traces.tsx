import { useCallback, useMemo } from 'react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { baseUrl } from '../../data/base.ts'
import { callsPagesKey, callStatisticsQuery, newCallsQuery, readUntil, shownCallsRequest } from '../../data/calls.ts'
import type { Answer } from '../../data/client.ts'
import { costOf } from '../../logic/calls.ts'
import { writeCurl } from '../../logic/command.ts'
import { isFiltered, writeFilters } from '../../logic/call-search.ts'
import { writeRequest } from '../../logic/call-query.ts'
import { countOf, formatCount } from '../../logic/numbers.ts'
import { nextOrder } from '../../logic/search.ts'
import { writeSnippets } from '../../logic/snippets.ts'
import { AsCommand } from '../../parts/command.tsx'
import { FilterField } from '../../parts/controls.tsx'
import controls from '../../parts/controls.module.css'
import { Download, DownloadLines } from '../../parts/download.tsx'
import { Page } from '../../parts/page.tsx'
import { WithPeek } from '../../parts/peek.tsx'
import { ProjectLink } from '../../parts/project-link.tsx'
import { useRowKeys } from '../../parts/row-keys.ts'
import { Answered, Empty } from '../../parts/state.tsx'
import { Table } from '../../parts/table.tsx'
import { TracesTabs } from './traces-tabs.tsx'
import { ColumnChoice } from './column-choice.tsx'
import { listColumns } from './columns.tsx'
import { ClearFilters, Facets, SetFilters } from './facets.tsx'
import { TimeHistogram } from './histogram.tsx'
import { CallPeek } from './peek.tsx'
import { useCallPages } from './use-call-pages.ts'
import { useTraces, type TracesState } from './use-traces.ts'
import { Views } from './views.tsx'
import classes from './traces.module.css'

type Statistics = Answer<'POST /v1/preview/projects/{project}/calls/statistics'>

export function TracesScreen() {
  return <CallsTable rootsOnly title="Traces" />
}

export function CallsScreen() {
  return <CallsTable rootsOnly={false} title="Calls" />
}

/** A table of calls, with what it can be filtered by, and a call beside it. */
function CallsTable({ rootsOnly, title }: { rootsOnly: boolean; title: string }) {
  const state = useTraces(rootsOnly)
  const { project, projectId, filters, body, search, change } = state
  const statistics = useQuery(callStatisticsQuery(project, statisticsBody(state)))
  const minCost = Number(search.cost ?? 0)
  const pages = useCallPages(body, { counted: statistics.data?.calls, minCost })
  const { column, descending } = state.order
  // In other orders, the newest call is not on the first page.
  const newest = column === 'started' && descending ? pages.newest : (statistics.data?.to ?? undefined)
  const request = shownCallsRequest(readUntil(body, pages.newest))
  return (
    <Page
      title={title}
      trail={<ProjectLink />}
      tabs={<TracesTabs />}
      actions={
        <>
          {minCost > 0 ? (
            <Download
              name={`${project}-calls`}
              rows={() => pages.loaded.filter((call) => (costOf(call) ?? 0) >= minCost)}
            />
          ) : (
            <DownloadLines name={`${project}-calls`} {...request} />
          )}
          <AsCommand requests={[request]} />
        </>
      }
    >
      <div className={controls.bar}>
        <FilterField
          label="Search calls"
          value={filters.text}
          onChange={(text) => change({ ...writeFilters({ ...filters, text }), peek: undefined })}
        />
        <Facets state={state} statistics={statistics.data} />
        <ColumnChoice state={state} calls={pages.loaded} />
        <Views state={state} />
        <Shown statistics={statistics.data} pages={pages} isOfCost={minCost > 0} />
      </div>
      <SetFilters state={state} />
      {statistics.data && statistics.data.calls > 0 && statistics.data.from !== null && (
        <TimeHistogram
          histogram={{ from: statistics.data.from, to: statistics.data.to!, buckets: statistics.data.buckets }}
          isRange={filters.from !== undefined || filters.to !== undefined}
          onRange={(range) => change({ ...writeFilters({ ...filters, ...range }), peek: undefined })}
        />
      )}
      <Answered result={pages.result} rows={12}>
        {() => <Rows key={projectId} state={state} pages={pages} newest={newest} />}
      </Answered>
    </Page>
  )
}

function statisticsBody({ filters, projectId }: TracesState) {
  const { from, to } = filters
  const request = writeRequest({ ...filters, from: undefined, to: undefined }, projectId)
  return { ...request, ...(from !== undefined && { from }), ...(to !== undefined && { to }) }
}

type Pages = ReturnType<typeof useCallPages>

interface ShownProps {
  statistics: Statistics | undefined
  pages: Pages
  isOfCost: boolean
}

function Shown({ statistics, pages: { rows, loaded }, isOfCost }: ShownProps) {
  if (!statistics) return <p role="status" className={controls.count} />
  const all = `${statistics.is_whole ? '' : 'more than '}${countOf(statistics.calls, 'call')}`
  const ofCost = `${formatCount(rows.length)} with this cost among ${formatCount(loaded.length)} of `
  return (
    <p role="status" className={controls.count}>
      {isOfCost && ofCost}
      {all}
    </p>
  )
}

interface RowsProps {
  state: TracesState
  pages: Pages
  /** When the newest call began. */
  newest: string | undefined
}

function Rows({ state, pages: { rows, move }, newest }: RowsProps) {
  const { search, filters, order, paths, hidden, change } = state
  const open = useCallback((id: string | undefined) => change({ peek: id }), [change])
  useRowKeys(rows, search.peek, open)
  const columns = useMemo(() => listColumns({ paths, hidden, onOpen: open }), [paths, hidden, open])
  if (rows.length === 0) return <Nothing state={state} newest={newest} isFiltered={isFiltered(filters)} />
  const index = rows.findIndex(({ id }) => id === search.peek)
  const peek = search.peek !== undefined && (
    <CallPeek
      state={state}
      id={search.peek}
      endedAt={index < 0 ? undefined : rows.at(index)?.ended_at}
      onClose={() => open(undefined)}
    />
  )
  return (
    <WithPeek peek={peek}>
      <NewCalls state={state} newest={newest} />
      <Table
        label="Calls"
        columns={columns}
        rows={rows}
        keyOf={({ id }) => id}
        order={order}
        onOrder={(column) => change({ sort: nextOrder(order, column) })}
        selected={search.peek}
        onRange={move}
      />
    </WithPeek>
  )
}

function Nothing({
  state,
  newest,
  isFiltered: hasFilter,
}: {
  state: TracesState
  newest: string | undefined
  isFiltered: boolean
}) {
  const { project } = state
  if (hasFilter || state.search.cost !== undefined)
    return (
      <Empty
        title={
          state.search.cost === undefined ? 'No call fits the filter' : 'No call of those that were read has this cost'
        }
        command={writeCurl(baseUrl, shownCallsRequest(state.body))}
        action={<ClearFilters state={state} className={controls.button!} />}
      >
        The command asks again, which finds calls that come later.
      </Empty>
    )
  const { text } = writeSnippets(baseUrl, project, '').find(({ name }) => name === 'weave')!
  return (
    <>
      <NewCalls state={state} newest={newest ?? '1970-01-01T00:00:00Z'} />
      <Empty title="No traces yet" command={text}>
        A trace is here as soon as a program sends it. This one does.
      </Empty>
    </>
  )
}

const askEveryMs = 5_000

/** Offers the calls that began since the table was read. Nothing moves until a person asks for them. */
function NewCalls({ state, newest }: { state: TracesState; newest: string | undefined }) {
  const queries = useQueryClient()
  const { projectId, project, filters, body } = state
  const request = { filter: body.filter, ...(body.query && { query: body.query }) }
  const { data: count = 0 } = useQuery({
    ...newCallsQuery(projectId, request, filters.to === undefined ? newest : undefined),
    refetchInterval: askEveryMs,
  })
  if (count === 0) return null
  const show = () => {
    void queries.resetQueries({ queryKey: callsPagesKey(body) })
    void queries.invalidateQueries(callStatisticsQuery(project, statisticsBody(state)))
  }
  return (
    <button type="button" className={classes.new} onClick={show}>
      {count >= 1_000 ? 'More than 1,000 new calls' : countOf(count, 'new call')}: show
    </button>
  )
}
