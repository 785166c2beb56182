import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { baseUrl } from '../../data/base.ts'
import { usePolling } from '../../data/live.ts'
import { metricsQuery } from '../../data/metrics.ts'
import type { Job, Model } from '../../data/models.ts'
import { apiQuery } from '../../data/queries.ts'
import { isFinal, shareDone } from '../../logic/jobs.ts'
import { countOf, formatCompact, formatMetric } from '../../logic/numbers.ts'
import { writeSnippets } from '../../logic/snippets.ts'
import { formatDuration } from '../../logic/time.ts'
import { Age, Sparkline, StateBadge, useNow } from '../../parts/badges.tsx'
import { AsCommand, Command } from '../../parts/command.tsx'
import { Segments } from '../../parts/controls.tsx'
import controls from '../../parts/controls.module.css'
import { Download } from '../../parts/download.tsx'
import { Page, Section } from '../../parts/page.tsx'
import { Answered, Empty } from '../../parts/state.tsx'
import classes from './overview.module.css'

const route = '/inside/$entity/$project/'

/** A project at a glance: what runs, what ran last, what failed, and how to begin. */
export function OverviewScreen() {
  const { entity, project } = useParams({ from: route })
  const refetchInterval = usePolling()
  const models = useQuery({
    ...apiQuery('GET /v1/preview/models', { query: { project, order: 'desc', limit: 10 } }),
    refetchInterval,
  })
  const jobs = useQuery({
    ...apiQuery('GET /v1/preview/training-jobs', { query: { project, order: 'desc', limit: 50 } }),
    refetchInterval,
  })
  const requests = [
    { address: `/v1/preview/models?project=${project}&order=desc` },
    { address: `/v1/preview/training-jobs?project=${project}&order=desc` },
  ]
  return (
    <Page
      title={project}
      actions={
        <>
          <Download name={project} rows={[...(models.data?.data ?? []), ...(jobs.data?.data ?? [])]} />
          <AsCommand requests={requests} kubectl="kubectl get models.trainyard.dev,trainingjobs" />
        </>
      }
    >
      <Answered result={models}>
        {({ data }) =>
          data.length === 0 ? (
            <Beginning entity={entity} project={project} />
          ) : (
            <>
              <Usage project={project} />
              <Answered result={jobs} rows={3}>
                {(page) => <Jobs jobs={page.data} models={data} />}
              </Answered>
              <Section
                title="Last runs"
                aside={
                  <Link to="/$entity/$project/runs" params={{ entity, project }}>
                    All runs
                  </Link>
                }
              >
                <ul className={classes.runs}>
                  {data.map((model) => (
                    <RunLine key={model.id} model={model} />
                  ))}
                </ul>
              </Section>
              <Section title="Use it from code">
                <Snippets project={project} baseModel={data[0]!.base_model} />
              </Section>
            </>
          )
        }
      </Answered>
    </Page>
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

const dayMs = 24 * 3_600_000

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

/** The jobs that have not ended, and those that failed in the last day. */
function Jobs({ jobs, models }: { jobs: readonly Job[]; models: readonly Model[] }) {
  const now = useNow(60_000)
  const active = jobs.filter(({ state }) => !isFinal(state))
  const failed = jobs.filter(({ state, finished_at }) => state === 'Failed' && Date.parse(finished_at!) > now - dayMs)
  return (
    <>
      {active.length > 0 && (
        <Section title={`${countOf(active.length, 'job')} at work`}>
          <JobLines jobs={active} models={models} />
        </Section>
      )}
      {failed.length > 0 && (
        <Section title={`${countOf(failed.length, 'failure')} in the last day`}>
          <JobLines jobs={failed} models={models} />
        </Section>
      )}
    </>
  )
}

function JobLines({ jobs, models }: { jobs: readonly Job[]; models: readonly Model[] }) {
  const { entity, project } = useParams({ from: route })
  return (
    <ul className={classes.jobs}>
      {jobs.map((job) => (
        <li key={job.id}>
          <Link to="/$entity/$project/jobs/$job" params={{ entity, project, job: job.id }}>
            <StateBadge state={job.state} />
            <b>{models.find(({ id }) => id === job.model_id)?.name ?? job.model_id.slice(0, 8)}</b>
            <JobNote job={job} />
            <Age time={job.created_at} />
          </Link>
        </li>
      ))}
    </ul>
  )
}

/** The most important fact of a job: why it failed or waits, or how far it is. */
function JobNote({ job }: { job: Job }) {
  const share = shareDone(job.progress)
  if (job.state === 'Failed') return <span className={classes.failure}>{job.failure?.message}</span>
  if (job.queue) return <span>{job.queue.message}</span>
  if (share === undefined) return <span />
  return (
    <span className={classes.progress}>
      <progress className={controls.meter} aria-label="Gradient steps" max={1} value={share} />
      {job.progress.step} of {job.progress.total_steps}
    </span>
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
