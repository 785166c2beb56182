import { lazy, Suspense } from 'react'
import { useQuery, type UseQueryResult } from '@tanstack/react-query'
import { Link, Outlet, useLocation, useParams } from '@tanstack/react-router'
import { ApiError } from '../../data/client.ts'
import { usePolling } from '../../data/live.ts'
import { runQuery, type Model } from '../../data/models.ts'
import { apiQuery } from '../../data/queries.ts'
import { isFinal } from '../../logic/jobs.ts'
import { listRunRequests } from '../../logic/run-requests.ts'
import { Chip, StateBadge } from '../../parts/badges.tsx'
import { AsCommand } from '../../parts/command.tsx'
import { Page } from '../../parts/page.tsx'
import { Answered, Loading } from '../../parts/state.tsx'
import tabs from '../../parts/tabs.module.css'

const LoggedRunScreen = lazy(async () => ({ default: (await import('./logged-run.tsx')).LoggedRunScreen }))

/** A run: that of a model, else what a program has logged under this name. */
export function RunScreen() {
  const { project, run } = useParams({ from: '/inside/$entity/$project/runs/$run' })
  const model = useQuery({ ...runQuery(project, run), refetchInterval: usePolling() })
  if (model.data || !(model.error instanceof ApiError) || model.error.status !== 404) return <ModelRun model={model} />
  return (
    <Suspense fallback={<Loading rows={10} />}>
      <LoggedRunScreen />
    </Suspense>
  )
}

/** The head of a run of a model, and the tab of the address. */
function ModelRun({ model }: { model: UseQueryResult<Model> }) {
  const { entity, project, run } = useParams({ from: '/inside/$entity/$project/runs/$run' })
  const id = model.data?.id ?? '$MODEL'
  const { pathname, search } = useLocation()
  const tab = pathname.split('/').at(-1) ?? ''
  const shown = listRunRequests(tab, search, { id, step: model.data?.latest_step ?? 0 })
  const requests = shown.map((address) => ({ address }))
  return (
    <Page
      title={run}
      id={model.data?.id}
      trail={
        <Link to="/$entity/$project/runs" params={{ entity, project }}>
          Runs
        </Link>
      }
      marks={model.data && <Marks modelId={model.data.id} step={model.data.latest_step} aliases={model.data.aliases} />}
      actions={
        <AsCommand
          requests={requests}
          kubectl={`kubectl get models.trainyard.dev,trainingjobs -l trainyard.dev/model-id=${id}`}
        />
      }
      tabs={<Tabs />}
    >
      <Answered result={model} rows={10}>
        {() => <Outlet />}
      </Answered>
    </Page>
  )
}

function Marks({ modelId, step, aliases }: { modelId: string; step: number; aliases: Record<string, number> }) {
  const { data } = useQuery({
    ...apiQuery('GET /v1/preview/training-jobs', { query: { model_id: modelId, order: 'desc', limit: 1 } }),
    refetchInterval: usePolling(),
  })
  const state = data?.data[0]?.state
  return (
    <>
      <Chip>{`step ${step}`}</Chip>
      {Object.entries(aliases).map(([alias, at]) => (
        <Chip key={alias} tone="blue">{`${alias} ${at}`}</Chip>
      ))}
      {state !== undefined && !isFinal(state) && <StateBadge state={state} />}
    </>
  )
}

const pages = [
  ['Charts', '/$entity/$project/runs/$run'],
  ['Trajectories', '/$entity/$project/runs/$run/trajectories'],
  ['Checkpoints', '/$entity/$project/runs/$run/checkpoints'],
  ['Jobs', '/$entity/$project/runs/$run/jobs'],
] as const

function Tabs() {
  const params = useParams({ from: '/inside/$entity/$project/runs/$run' })
  return (
    <nav aria-label="Run" className={tabs.tabs}>
      {pages.map(([name, to]) => (
        <Link key={to} to={to} params={params} activeOptions={{ exact: true, includeSearch: false }}>
          {name}
        </Link>
      ))}
    </nav>
  )
}
