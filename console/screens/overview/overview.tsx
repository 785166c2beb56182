import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { baseUrl } from '../../data/base.ts'
import { locate } from '../../data/client.ts'
import { usePolling } from '../../data/live.ts'
import { metricsQuery } from '../../data/metrics.ts'
import type { Model } from '../../data/models.ts'
import { apiQuery } from '../../data/queries.ts'
import { listResources } from '../../logic/command.ts'
import { activeStates } from '../../logic/jobs.ts'
import { formatCompact, formatMetric } from '../../logic/numbers.ts'
import { writeSnippets } from '../../logic/snippets.ts'
import { dayMs, formatDuration } from '../../logic/time.ts'
import { Age, Sparkline } from '../../parts/badges.tsx'
import { AsCommand, Command } from '../../parts/command.tsx'
import { Segments } from '../../parts/controls.tsx'
import { Download } from '../../parts/download.tsx'
import { Page, Section } from '../../parts/page.tsx'
import { PauseJobs } from '../../parts/pause-jobs.tsx'
import { Answered, Empty } from '../../parts/state.tsx'
import { jobsQuery, ListedJobs } from './jobs.tsx'
import { TracesOfDay, useTraces } from './traces-of-day.tsx'
import classes from './overview.module.css'

const route = '/inside/$entity/$project/'

/** A project at a glance: what runs, what ran last, what failed, and how to begin. */
export function OverviewScreen() {
  const params = useParams({ from: route })
  const { entity, project } = params
  const refetchInterval = usePolling()
  const models = useQuery({
    ...apiQuery('GET /v1/preview/models', { query: modelsOf(project) }),
    refetchInterval,
  })
  const active = useQuery({ ...jobsQuery(project, activeStates), refetchInterval })
  const failed = useQuery({ ...jobsQuery(project, ['Failed']), refetchInterval })
  const traces = useTraces(project, refetchInterval)
  const jobs = [...(active.data?.data ?? []), ...(failed.data?.data ?? [])]
  const requests = [
    locate('GET /v1/preview/models', { query: modelsOf(project) }),
    ...[activeStates, ['Failed']].map((states) =>
      locate('GET /v1/preview/training-jobs', { query: { project, state: states.join(','), order: 'desc' } }),
    ),
  ]
  return (
    <Page
      title={project}
      actions={
        <>
          <Download name={project} rows={[...(models.data?.data ?? []), ...jobs]} />
          <AsCommand requests={requests} kubectl={listResources('models.trainyard.dev,trainingjobs', params)} />
        </>
      }
    >
      <Answered result={models}>
        {({ data }) =>
          data.length === 0 && traces.ever === 0 ? (
            <Beginning entity={entity} project={project} />
          ) : (
            <>
              <Usage project={project} />
              <ListedJobs result={active} title={(count) => `${count} at work`} models={data} aside={<PauseJobs />} />
              <ListedJobs result={failed} title={(count) => `${count} failed in the last day`} models={data} />
              {traces.ofDay !== undefined && <TracesOfDay {...traces.ofDay} />}
              {data.length > 0 && <LastRuns models={data} />}
              <Section title="Use it from code">
                <Snippets project={project} baseModel={data[0]?.base_model ?? 'trainyard/tiny-chat'} />
              </Section>
            </>
          )
        }
      </Answered>
    </Page>
  )
}

const modelsOf = (project: string) => ({ project, order: 'desc' as const, limit: 10 })

function LastRuns({ models }: { models: readonly Model[] }) {
  const params = useParams({ from: route })
  return (
    <Section
      title="Last runs"
      aside={
        <Link to="/$entity/$project/runs" params={params}>
          All runs
        </Link>
      }
    >
      <ul className={classes.runs}>
        {models.map((model) => (
          <RunLine key={model.id} model={model} />
        ))}
      </ul>
    </Section>
  )
}

function Beginning({ entity, project }: { entity: string; project: string }) {
  return (
    <Empty title={`${entity}/${project} is empty`}>
      Run one of these programs. Its run appears here as soon as it begins.
      <Snippets project={project} baseModel="trainyard/tiny-chat" />
    </Empty>
  )
}

function Snippets({ project, baseModel }: { project: string; baseModel: string }) {
  const snippets = writeSnippets(baseUrl, project, baseModel)
  const [chosen, setChosen] = useState(snippets[0]!.name)
  return (
    <div className={classes.snippets}>
      <Segments label="Client" choices={snippets.map(({ name }) => name)} value={chosen} onChoose={setChosen} />
      <Command text={snippets.find(({ name }) => name === chosen)!.text} />
    </div>
  )
}

/** What the project used in the last thirty days. */
function Usage({ project }: { project: string }) {
  const [from] = useState(() => new Date(Date.now() - 30 * dayMs).toISOString())
  const { data } = useQuery(apiQuery('GET /v1/preview/usage', { query: { project, from } }))
  const sum = data?.data[0]
  const figures = [
    ['Requests', sum && formatCompact(sum.requests)],
    ['Sampled tokens', sum && formatCompact(sum.completion_tokens)],
    ['Trained tokens', sum && formatCompact(sum.trained_tokens)],
    ['Training time', sum && formatDuration(sum.training_seconds * 1000)],
  ] as const
  return (
    <dl className={classes.figures} aria-label="Usage of the last 30 days">
      {figures.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value ?? (data ? '0' : '–')}</dd>
        </div>
      ))}
    </dl>
  )
}

function RunLine({ model }: { model: Model }) {
  const { entity, project } = useParams({ from: route })
  const { data } = useQuery({ ...metricsQuery(model.id, ['reward', 'val/reward', 'loss'], { points: 60 }) })
  const points = (data?.['val/reward'] ?? data?.['reward'] ?? data?.['loss'])?.points ?? []
  const name = data?.['val/reward'] ? 'val reward' : data?.['reward'] ? 'reward' : data?.['loss'] ? 'loss' : ''
  return (
    <li>
      <Link to="/$entity/$project/runs/$run" params={{ entity, project, run: model.name }}>
        <b>{model.name}</b>
        <span className={classes.base}>{model.base_model}</span>
        <span>step {model.latest_step}</span>
        <span className={classes.reward}>
          <small>{name}</small>
          <Sparkline points={points} />
          <b>{formatMetric(points.at(-1)?.value)}</b>
        </span>
        <Age time={model.created_at} />
      </Link>
    </li>
  )
}
