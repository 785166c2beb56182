import type { ReactNode } from 'react'
import type { UseQueryResult } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { Answer } from '../../data/client.ts'
import type { Job, Model } from '../../data/models.ts'
import { apiQuery } from '../../data/queries.ts'
import { shareDone } from '../../logic/jobs.ts'
import { describeSize, maxTotal } from '../../logic/numbers.ts'
import { dayMs } from '../../logic/time.ts'
import { Age, StateBadge, useNow } from '../../parts/badges.tsx'
import controls from '../../parts/controls.module.css'
import { Section } from '../../parts/page.tsx'
import { Answered } from '../../parts/state.tsx'
import classes from './overview.module.css'

// More than a person looks through here. The table of jobs of a run has all of its jobs.
const maxJobs = 50

/** The newest jobs in some states, and how many there are. */
export function jobsQuery(project: string, states: readonly string[]) {
  const state = states.join(',') as never
  const query = { project, state, order: 'desc' as const, limit: maxJobs, max_total: maxTotal }
  return apiQuery('GET /v1/preview/training-jobs', { query })
}

interface ListedJobsProps {
  result: UseQueryResult<Answer<'GET /v1/preview/training-jobs'>>
  title: (count: string) => string
  models: readonly Model[]
  /** Beside the title. */
  aside?: ReactNode
}

/** Jobs of some states, if there are any: those that have ended only if that was in the last day. */
export function ListedJobs({ result, title, models, aside }: ListedJobsProps) {
  const now = useNow(60_000)
  return (
    <Answered result={result} rows={2}>
      {({ data, has_more: hasMore, total = data.length }) => {
        const shown = data.filter(({ finished_at: time }) => time === null || Date.parse(time) > now - dayMs)
        if (shown.length === 0) return null
        // If all that were read are of the day, older ones may be among the others.
        const size = { isWhole: !hasMore || shown.length < data.length, total }
        return (
          <Section title={title(describeSize(shown.length, size, 'job'))} aside={aside}>
            <JobLines jobs={shown} models={models} />
          </Section>
        )
      }}
    </Answered>
  )
}

function JobLines({ jobs, models }: { jobs: readonly Job[]; models: readonly Model[] }) {
  const { entity, project } = useParams({ from: '/inside/$entity/$project' })
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
