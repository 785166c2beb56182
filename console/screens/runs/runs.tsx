import { useCallback, useMemo } from 'react'
import { useQueries, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { baseUrl } from '../../data/base.ts'
import { locate } from '../../data/client.ts'
import { usePolling } from '../../data/live.ts'
import { wholeListQuery } from '../../data/queries.ts'
import { listResources, writeCurl } from '../../logic/command.ts'
import { activeStates } from '../../logic/jobs.ts'
import { describeSize, formatCount, type ListSize } from '../../logic/numbers.ts'
import {
  filterRuns,
  newestFirst,
  putFirst,
  readRewards,
  runColumns,
  sortRuns,
  type Run,
  type RunRewards,
} from '../../logic/runs.ts'
import { writeTraining } from '../../logic/snippets.ts'
import { nextOrder, readList, readOrder, toggle, writeList, type Order } from '../../logic/search.ts'
import { ColumnMenu } from '../../parts/column-menu.tsx'
import { AsCommand } from '../../parts/command.tsx'
import { FilterField } from '../../parts/controls.tsx'
import controls from '../../parts/controls.module.css'
import { Download } from '../../parts/download.tsx'
import { Page } from '../../parts/page.tsx'
import { ProjectLink } from '../../parts/project-link.tsx'
import { Answered, Empty } from '../../parts/state.tsx'
import { Table } from '../../parts/table.tsx'
import { listColumns, optionalColumns, pickPinned, rewardsQuery } from './columns.tsx'
import { LoggedRuns, useLoggedRuns } from './logged-runs.tsx'
import classes from './runs.module.css'

const route = '/inside/$entity/$project/runs'
const maxCompared = 8

/** The runs of a project: all that have a model. */
export function RunsScreen() {
  const { entity, project } = useParams({ from: route })
  const { result, size } = useRuns(project)
  return (
    <Page
      title="Runs"
      trail={<ProjectLink />}
      actions={
        <AsCommand
          requests={[modelsRequest(project), { address: `/v1/preview/runs?project=${project}&order=desc` }]}
          kubectl={listResources('models.trainyard.dev', { entity, project })}
        />
      }
    >
      <Answered result={result} rows={10}>
        {(runs) => <Runs runs={runs} size={size} />}
      </Answered>
    </Page>
  )
}

const modelsRequest = (project: string) => locate('GET /v1/preview/models', { query: { project, order: 'desc' } })

/** The models of a project with the states of their oldest unfinished jobs, which are at work before others. */
function useRuns(project: string) {
  const { sort } = useSearch({ from: route })
  const refetchInterval = usePolling()
  const models = useQuery({
    ...wholeListQuery('GET /v1/preview/models', { query: { project, order: 'desc' } }),
    refetchInterval,
  })
  const jobs = useQuery({
    ...wholeListQuery('GET /v1/preview/training-jobs', { query: { project, state: activeStates.join(',') as never } }),
    refetchInterval,
  })
  const data = useMemo(() => {
    const activity = new Map(jobs.data?.items.toReversed().map(({ model_id, state }) => [model_id, state]))
    return models.data?.items.map((model): Run => ({ ...model, activity: activity.get(model.id) }))
  }, [models.data, jobs.data])
  const rewards = useRewards(data ?? noRuns, isOfRewards(readOrder(sort, runColumns, newestFirst)))
  const rewarded = useMemo(() => data?.map((run) => ({ ...run, rewards: rewards.get(run.id) })), [data, rewards])
  const { error, refetch, dataUpdatedAt } = models
  return { result: { data: rewarded, error, refetch, dataUpdatedAt }, size: models.data ?? unread }
}

const noRuns: readonly Run[] = []
// Each run is a request, unless its row has read it.
const maxRewarded = 300

const isOfRewards = ({ column }: Order) => column === 'reward' || column === 'best'

/** The rewards of the newest runs, when the table is in their order. */
function useRewards(runs: readonly Run[], isWanted: boolean): ReadonlyMap<string, RunRewards> {
  const wanted = useMemo(() => (isWanted ? runs.slice(0, maxRewarded) : noRuns), [runs, isWanted])
  const read = useQueries({
    queries: wanted.map(({ id }) => rewardsQuery(id)),
    combine: (results) => results.map(({ data }) => data && readRewards(data)),
  })
  return useMemo(
    () => new Map(wanted.flatMap(({ id }, index) => (read[index] ? [[id, read[index]] as const] : []))),
    [wanted, read],
  )
}

const unread: ListSize = { isWhole: true, total: 0 }

function Runs({ runs, size }: { runs: readonly Run[]; size: ListSize }) {
  const { project } = useParams({ from: route })
  const search = useSearch({ from: route })
  const navigate = useNavigate({ from: '/$entity/$project/runs' })
  const order = readOrder(search.sort, runColumns, newestFirst)
  const picked = readList(search.pick, maxCompared)
  const hidden = readList(search.cols)
  const pinned = readList(search.pin)
  const change = useCallback(
    (changes: typeof search) => void navigate({ search: (all) => ({ ...all, ...changes }), replace: true }),
    [navigate],
  )
  const shown = useMemo(
    () =>
      putFirst(
        sortRuns(filterRuns(runs, search.q, search.base), readOrder(search.sort, runColumns, newestFirst)),
        readList(search.pick),
      ),
    [runs, search],
  )
  const pick = (name: string) => change({ pick: writeList(toggle(picked, name)) })
  const columns = listColumns({ picked, pick, isFull: picked.length >= maxCompared, hidden, pinned })
  const logged = useLoggedRuns(project)
  const loggedRuns = logged && logged.runs.length > 0 && <LoggedRuns {...logged} />
  if (runs.length === 0)
    return (
      loggedRuns || (
        <Empty
          title="No runs yet"
          command={writeTraining(baseUrl, { project, name: 'mine', base_model: 'trainyard/tiny-chat' })}
        >
          A run is there as soon as a client creates a model in {project}. This program does.
        </Empty>
      )
    )
  return (
    <>
      <div className={controls.bar}>
        <FilterField label="Filter runs" value={search.q} onChange={(q) => change({ q })} />
        <BaseModels runs={runs} value={search.base} onChoose={(base) => change({ base })} />
        <ColumnMenu
          names={optionalColumns}
          isShown={(name) => !hidden.includes(name)}
          onToggle={(name) => change({ cols: writeList(toggle(hidden, name)) })}
          pins={{ pinned, onPin: (name) => change({ pin: writeList(toggle(pinned, name)) }) }}
        />
        <p role="status" className={controls.count}>
          {shown.length < runs.length && `${formatCount(shown.length)} of `}
          {describeSize(runs.length, size, 'run')}
          {runs.length > maxRewarded && isOfRewards(order) && `; of the newest ${maxRewarded} the rewards are known`}
        </p>
        <Download name={`${project}-runs`} rows={shown} />
        <Compare picked={picked} />
      </div>
      {shown.length === 0 ? (
        <Empty
          title="No run fits the filter"
          command={writeCurl(baseUrl, modelsRequest(project))}
          action={
            <button type="button" className={controls.button} onClick={() => change({ q: undefined, base: undefined })}>
              Clear the filter
            </button>
          }
        >
          The command lists all runs of the project.
        </Empty>
      ) : (
        <Table
          label="Runs"
          columns={columns}
          rows={shown}
          keyOf={({ id }) => id}
          pinned={pickPinned(columns, pinned).length}
          order={order}
          onOrder={(column) => change({ sort: nextOrder(order, column) })}
        />
      )}
      {loggedRuns}
    </>
  )
}

function BaseModels({
  runs,
  value,
  onChoose,
}: {
  runs: readonly Run[]
  value: string | undefined
  onChoose: (base: string | undefined) => void
}) {
  const names = [...new Set(runs.map(({ base_model }) => base_model))].toSorted()
  if (names.length < 2) return null
  return (
    <select
      aria-label="Base model"
      className={controls.select}
      value={value ?? ''}
      onChange={(event) => onChoose(event.currentTarget.value === '' ? undefined : event.currentTarget.value)}
    >
      <option value="">All base models</option>
      {names.map((name) => (
        <option key={name}>{name}</option>
      ))}
    </select>
  )
}

function Compare({ picked }: { picked: readonly string[] }) {
  const { entity, project } = useParams({ from: route })
  if (picked.length < 2) return <span className={classes.hint}>Pick two or more to compare</span>
  return (
    <Link
      to="/$entity/$project/compare"
      params={{ entity, project }}
      search={{ runs: picked.join(',') }}
      className={controls.primary}
    >
      Compare {picked.length}
    </Link>
  )
}
