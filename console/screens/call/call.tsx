import { useCallback, useMemo } from 'react'
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { copyCall, maxSpans, shownCallsRequest, traceBody, traceIdQuery, traceQuery } from '../../data/calls.ts'
import { nameCall, type Call } from '../../logic/calls.ts'
import { findCriticalPath, findSlowest } from '../../logic/critical-path.ts'
import { revealHidden } from '../../logic/chat.ts'
import { countOf } from '../../logic/numbers.ts'
import { buildTrace } from '../../logic/span-tree.ts'
import { formatDuration } from '../../logic/time.ts'
import { AsCommand } from '../../parts/command.tsx'
import { Page } from '../../parts/page.tsx'
import { ProjectLink } from '../../parts/project-link.tsx'
import { Answered, Failure, Loading } from '../../parts/state.tsx'
import { ToDataset } from '../../parts/to-dataset.tsx'
import { Detail } from './detail.tsx'
import { Tree } from './tree.tsx'
import classes from './call.module.css'

const route = '/inside/$entity/$project/weave/calls/$call'

/** One call in its trace: the calls around it as a tree over time, and what it was given and answered. */
export function CallScreen() {
  const { entity, project, call: id } = useParams({ from: route })
  const projectId = `${entity}/${project}`
  // The tree stays while the trace of another call is looked up.
  const traceId = useQuery({ ...traceIdQuery(projectId, id), placeholderData: keepPreviousData })
  if (traceId.error) return <Failure heading="h1" error={traceId.error} onRetry={() => void traceId.refetch()} />
  if (traceId.data === undefined) return <Loading rows={12} />
  return <TraceOf key={traceId.data} projectId={projectId} traceId={traceId.data} id={id} />
}

interface TraceProps {
  projectId: string
  traceId: string
  id: string
}

function TraceOf({ projectId, traceId, id }: TraceProps) {
  const { project } = useParams({ from: route })
  const calls = useQuery(traceQuery(projectId, traceId))
  const call = calls.data?.find((each) => each.id === id)
  return (
    <Page
      title={call ? revealHidden(nameCall(call)) : `Call ${id.slice(0, 8)}`}
      id={id}
      trail={<ProjectLink />}
      actions={
        <>
          <ToDataset what="call" copy={(dataset) => copyCall(project, id, dataset)} />
          <AsCommand
            requests={[
              { method: 'POST', address: '/traces/call/read', body: { project_id: projectId, id } },
              shownCallsRequest(traceBody(projectId, traceId)),
            ]}
          />
        </>
      }
    >
      <Answered result={calls} rows={12}>
        {(all) => <Shown projectId={projectId} calls={all} readAt={calls.dataUpdatedAt} id={id} />}
      </Answered>
    </Page>
  )
}

interface ShownProps {
  projectId: string
  calls: readonly Call[]
  readAt: number
  id: string
}

function Shown({ projectId, calls, readAt, id }: ShownProps) {
  const search = useSearch({ from: route })
  const trace = useMemo(() => buildTrace(calls, readAt), [calls, readAt])
  const path = useMemo(() => findCriticalPath(trace), [trace])
  const slowest = findSlowest(path)
  const at = trace.spans.findIndex(({ call }) => call.id === id)
  const change = useChange()
  const select = useSelect(projectId, calls[0]?.trace_id)
  const errors = trace.spans.filter(({ hasError }) => hasError).length
  return (
    <>
      <p className={classes.sum}>
        {countOf(trace.spans.length, 'call')} in {formatDuration(trace.durationMs)}
        {errors > 0 && `, ${countOf(errors, 'error')}`}
        {slowest !== undefined && trace.spans.length > 1 && (
          <>
            . Most of it is spent in{' '}
            <button
              type="button"
              className={classes.slowest}
              onClick={() => select(trace.spans[slowest]!.call.id, false)}
            >
              {revealHidden(trace.spans[slowest]!.name)}
            </button>
            : {formatDuration(path.ownMs[slowest]!)}
          </>
        )}
        {calls.length >= maxSpans && '. The trace has more calls, which are not shown.'}
      </p>
      <div className={classes.split}>
        <Tree
          trace={trace}
          selected={at}
          path={path}
          errorsOnly={search.errors === '1'}
          pathOnly={search.path === '1'}
          onPathOnly={(isOn) => change({ path: isOn ? '1' : undefined })}
          hasErrors={errors > 0}
          onErrorsOnly={(isOn) => change({ errors: isOn ? '1' : undefined })}
          onSelect={select}
        />
        <Detail
          key={id}
          projectId={projectId}
          id={id}
          endedAt={trace.spans[at]?.call.ended_at}
          tab={search.tab}
          onTab={(tab) => change({ tab })}
        />
      </div>
    </>
  )
}

function useChange() {
  const navigate = useNavigate({ from: '/$entity/$project/weave/calls/$call' })
  return (changes: object) => void navigate({ search: (all) => ({ ...all, ...changes }), replace: true })
}

/** Goes to another call of the trace, whose trace is therefore known. */
function useSelect(projectId: string, traceId: string | undefined) {
  const queries = useQueryClient()
  const navigate = useNavigate({ from: '/$entity/$project/weave/calls/$call' })
  return useCallback(
    (id: string, isStep: boolean) => {
      if (traceId !== undefined) queries.setQueryData(traceIdQuery(projectId, id).queryKey, traceId)
      // Steps of the arrow keys are no pages to go back to.
      void navigate({
        params: (all) => ({ ...all, call: id }),
        search: (all) => all,
        replace: isStep,
        resetScroll: false,
      })
    },
    [queries, navigate, projectId, traceId],
  )
}
