import { useMemo } from 'react'
import { useQueries, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { baseUrl } from '../../data/base.ts'
import { locate, type Answer } from '../../data/client.ts'
import { usePolling } from '../../data/live.ts'
import { historyQuery, loggedRunQuery, type LoggedRun } from '../../data/logged-runs.ts'
import { apiQuery } from '../../data/queries.ts'
import { revealHidden } from '../../logic/chat.ts'
import { writeCurl } from '../../logic/command.ts'
import { listNumbers } from '../../logic/history.ts'
import { countOf, formatCount } from '../../logic/numbers.ts'
import { arrangeCharts, type Point } from '../../logic/series.ts'
import { Age, Chip } from '../../parts/badges.tsx'
import { Chart } from '../../parts/chart.tsx'
import { AsCommand } from '../../parts/command.tsx'
import { FilterField } from '../../parts/controls.tsx'
import { Download, DownloadAnswer } from '../../parts/download.tsx'
import { Json } from '../../parts/json.tsx'
import { Facts, Page, Section } from '../../parts/page.tsx'
import { ProjectLink } from '../../parts/project-link.tsx'
import { Answered, Empty } from '../../parts/state.tsx'
import classes from './charts.module.css'

const route = '/inside/$entity/$project/runs/$run'
const operations = {
  run: 'GET /v1/preview/runs/{run_id}',
  metrics: 'GET /v1/preview/runs/{run_id}/metrics',
  output: 'GET /v1/preview/runs/{run_id}/output',
} as const

const none: Point[] = []

/** A run that a program has logged by the wandb SDK, without a model of the same name. */
export function LoggedRunScreen() {
  const { project, run: name } = useParams({ from: route })
  const result = useQuery({ ...loggedRunQuery(project, name), refetchInterval: usePolling() })
  const { data: run } = result
  const parts = { path: { run_id: run?.id ?? '$RUN' } }
  return (
    <Page
      title={revealHidden(run?.display_name ?? name)}
      id={run?.id}
      trail={<ProjectLink />}
      marks={run && <Chip {...(run.state === 'crashed' && { tone: 'orange' as const })}>{run.state}</Chip>}
      actions={
        <>
          {run && <DownloadAnswer name={`run-${run.name}`} address={locate(operations.run, parts).address} />}
          <AsCommand requests={Object.values(operations).map((operation) => locate(operation, parts))} />
        </>
      }
    >
      <Answered result={result} rows={10}>
        {(found) => <Shown run={found} />}
      </Answered>
    </Page>
  )
}

function Shown({ run }: { run: LoggedRun }) {
  const refetchInterval = usePolling()
  const path = { run_id: run.id }
  const metrics = useQuery({ ...apiQuery(operations.metrics, { path }), refetchInterval })
  const detail = useQuery({ ...apiQuery(operations.run, { path }), refetchInterval })
  const { group, job_type: jobType, tags, exit_code: exitCode, history_lines: lines } = run
  return (
    <>
      <Facts
        facts={[
          ['Begun', <Age key="begun" time={run.created_at} />],
          ['Last heard of', <Age key="heard" time={run.heartbeat_at} />],
          ['Lines', formatCount(lines)],
          ...(exitCode === null ? [] : [['Exit code', String(exitCode)] as const]),
          ...(group === null ? [] : [['Group', revealHidden(group)] as const]),
          ...(jobType === null ? [] : [['Job type', revealHidden(jobType)] as const]),
          ...(tags.length === 0 ? [] : [['Tags', revealHidden(tags.join(', '))] as const]),
        ]}
      />
      <Answered result={metrics} rows={8}>
        {({ keys }) => <Charts run={run} metrics={keys} />}
      </Answered>
      <Answered result={detail} rows={3}>
        {({ config, summary }) => (
          <>
            <Section title="Config">
              <Json value={config} />
            </Section>
            <Section title="Summary">
              <Json value={summary} />
            </Section>
          </>
        )}
      </Answered>
    </>
  )
}

function Charts({ run, metrics }: { run: LoggedRun; metrics: Answer<typeof operations.metrics>['keys'] }) {
  const keys = useMemo(() => listNumbers(metrics), [metrics])
  const search: { q?: string | undefined } = useSearch({ strict: false })
  const navigate = useNavigate({ from: '/$entity/$project/runs/$run' })
  const queries = useQueryClient()
  const charts = useMemo(() => arrangeCharts(keys, search.q), [keys, search.q])
  const rows = () =>
    charts.flat().map((key) => ({ key, points: queries.getQueryData(historyQuery(run.id, key).queryKey) ?? [] }))
  return (
    <Section title="Charts">
      <div className={classes.bar}>
        <FilterField
          label="Find a metric"
          value={search.q}
          onChange={(q) => void navigate({ search: (all) => ({ ...all, q }), replace: true })}
        />
        <p role="status">{countOf(charts.length, 'chart')}</p>
        <Download name={`${run.name}-metrics`} rows={rows} />
      </div>
      {charts.length === 0 && (
        <Empty
          title={keys.length === 0 ? 'No numbers are logged yet' : 'No metric has these words'}
          command={writeCurl(baseUrl, locate(operations.metrics, { path: { run_id: run.id } }))}
        >
          The command lists what the run has logged. `run.log(...)` adds to it.
        </Empty>
      )}
      <div className={classes.charts}>
        {charts.map((own) => (
          <LoggedChart key={own.join()} runId={run.id} keys={own} />
        ))}
      </div>
    </Section>
  )
}

function LoggedChart({ runId, keys }: { runId: string; keys: readonly string[] }) {
  const refetchInterval = usePolling()
  const curves = useQueries({
    queries: keys.map((key) => ({ ...historyQuery(runId, key), refetchInterval })),
    combine: (results) => results.map(({ data }) => data ?? none),
  })
  const series = useMemo(() => keys.map((name, index) => ({ name, points: curves[index] ?? none })), [keys, curves])
  return <Chart title={keys[0]!} series={series} />
}
