import { useMemo } from 'react'
import { useQueries, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { metricKeysQuery, metricsQuery } from '../../data/metrics.ts'
import { runQuery, type Model } from '../../data/models.ts'
import { leaveOutCopies } from '../../logic/metric-names.ts'
import { listRunRequests } from '../../logic/run-requests.ts'
import { countOf } from '../../logic/numbers.ts'
import { readList } from '../../logic/search.ts'
import { arrangeCharts } from '../../logic/series.ts'
import { AsCommand } from '../../parts/command.tsx'
import { Chart } from '../../parts/chart.tsx'
import { FilterField } from '../../parts/controls.tsx'
import { Download } from '../../parts/download.tsx'
import { Page } from '../../parts/page.tsx'
import { Empty, Failure, Loading } from '../../parts/state.tsx'
import classes from '../run/charts.module.css'

const route = '/inside/$entity/$project/compare'
const maxRuns = 8

/** Up to eight runs in the same charts. */
export function CompareScreen() {
  const { entity, project } = useParams({ from: route })
  const search = useSearch({ from: route })
  const names = readList(search.runs, maxRuns)
  const results = useQueries({ queries: names.map((name) => runQuery(project, name)) })
  const failed = results.find(({ error }) => error !== null)
  const models = results.flatMap(({ data }) => (data ? [data] : []))
  return (
    <Page
      title={`Compare ${countOf(names.length, 'run')}`}
      trail={
        <Link to="/$entity/$project/runs" params={{ entity, project }} search={{ pick: search.runs }}>
          Runs
        </Link>
      }
      actions={
        <AsCommand
          requests={models
            .flatMap(({ id }) => listRunRequests('', {}, { id, step: 0 }))
            .map((address) => ({ address }))}
        />
      }
    >
      {names.length === 0 && <Empty title="No runs are picked">Pick them in the table of runs.</Empty>}
      {failed?.error && <Failure error={failed.error} />}
      {models.length < names.length && !failed ? <Loading rows={10} /> : <Compared models={models} />}
    </Page>
  )
}

function Compared({ models }: { models: readonly Model[] }) {
  const search = useSearch({ from: route })
  const navigate = useNavigate({ from: '/$entity/$project/compare' })
  const results = useQueries({ queries: models.map(({ id }) => metricKeysQuery(id)) })
  const keys = [...new Set(results.flatMap(({ data }) => leaveOutCopies(data ?? []).map(({ key }) => key)))]
  const queries = useQueryClient()
  const charts = arrangeCharts(keys, search.q).flat()
  const rows = () =>
    charts.flatMap((key) =>
      models.flatMap(({ id, name }) => {
        const curve = queries.getQueryData(metricsQuery(id, [key]).queryKey)?.[key]
        return curve ? [{ run: name, key, ...curve }] : []
      }),
    )
  return (
    <>
      <div className={classes.bar}>
        <FilterField
          label="Find a metric"
          value={search.q}
          onChange={(q) => void navigate({ search: (all) => ({ ...all, q }), replace: true })}
        />
        <Download name="compared-runs" rows={rows} />
      </div>
      <div className={classes.charts}>
        {charts.map((key) => (
          <ComparedChart key={key} metric={key} models={models} />
        ))}
      </div>
    </>
  )
}

function ComparedChart({ metric, models }: { metric: string; models: readonly Model[] }) {
  const results = useQueries({ queries: models.map(({ id }) => metricsQuery(id, [metric])) })
  const points = results.map(({ data }) => data?.[metric]?.points ?? [])
  const series = useMemo(
    () => models.map(({ name }, index) => ({ name, points: points[index]! })),
    // oxlint-disable-next-line react-hooks/exhaustive-deps
    [models, JSON.stringify(points)],
  )
  return <Chart title={metric} series={series} />
}
