import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { usePolling } from '../../data/live.ts'
import type { JobDetail } from '../../data/models.ts'
import { apiQuery } from '../../data/queries.ts'
import { isFinal } from '../../logic/jobs.ts'
import { formatTime, formatUntil } from '../../logic/time.ts'
import { Age, Chip, StateBadge, useNow } from '../../parts/badges.tsx'
import { AsCommand } from '../../parts/command.tsx'
import { DownloadAnswer } from '../../parts/download.tsx'
import { Facts, Page, Section } from '../../parts/page.tsx'
import { PauseJobs } from '../../parts/pause-jobs.tsx'
import { Failure, Loading } from '../../parts/state.tsx'
import { Cancel } from './cancel.tsx'
import { Events } from './events.tsx'
import { Lanes } from './lanes.tsx'
import { Logs } from './logs.tsx'
import { Retry } from './retry.tsx'
import { Settings } from './settings.tsx'
import classes from './job.module.css'

const route = '/inside/$entity/$project/jobs/$job'

/** A training job: how it stands and why, what happened, and what it was asked to do. */
export function JobScreen() {
  const { job: id } = useParams({ from: route })
  const polling = usePolling()
  const {
    data: job,
    error,
    refetch,
  } = useQuery({
    ...apiQuery('GET /v1/preview/training-jobs/{training_job_id}', { path: { training_job_id: id } }),
    // An unfinished job changes often; its position in a queue changes without an event of its own.
    refetchInterval: ({ state }) => (state.data && isFinal(state.data.state) ? polling : Math.min(polling, 5_000)),
  })
  if (!job && error)
    return (
      <Page title={`Job ${id.slice(0, 8)}`}>
        <Failure error={error} onRetry={() => void refetch()} />
      </Page>
    )
  if (!job)
    return (
      <Page title={`Job ${id.slice(0, 8)}`}>
        <Loading rows={10} />
      </Page>
    )
  const address = `/v1/preview/training-jobs/${id}`
  return (
    <Page
      title={`Job ${id.slice(0, 8)}`}
      id={id}
      trail={<Trail modelId={job.model_id} />}
      marks={
        <>
          <StateBadge state={job.state} />
          <Chip>{job.method}</Chip>
        </>
      }
      actions={
        <>
          <Cancel job={job} />
          <Retry job={job} />
          <DownloadAnswer name={`job-${id}`} address={address} />
          <AsCommand
            requests={[{ address }, { address: `${address}/events` }, { address: `${address}/logs` }]}
            kubectl={`kubectl get trainingjobs -l trainyard.dev/id=${id} -o yaml`}
          />
        </>
      }
    >
      <JobParts job={job} />
    </Page>
  )
}

function Trail({ modelId }: { modelId: string }) {
  const { entity, project } = useParams({ from: route })
  const { data: model } = useQuery(apiQuery('GET /v1/preview/models/{model_id}', { path: { model_id: modelId } }))
  return (
    <>
      <Link to="/$entity/$project/runs" params={{ entity, project }}>
        Runs
      </Link>
      {model && (
        <Link to="/$entity/$project/runs/$run/jobs" params={{ entity, project, run: model.name }}>
          {model.name}
        </Link>
      )}
    </>
  )
}

function JobParts({ job }: { job: JobDetail }) {
  return (
    <>
      <Verdict job={job} />
      <Section title="Phases">
        <Lanes job={job} />
      </Section>
      <Section title="Facts">
        <Facts
          facts={[
            ['Attempt', `${job.attempt} of at most ${job.max_attempts}`],
            [
              'Gradient steps',
              `${job.progress.step}${job.progress.total_steps === null ? '' : ` of ${job.progress.total_steps}`}`,
            ],
            ['Checkpoint', job.step === null ? '–' : `step ${job.step}`],
            ...(job.loads.length === 0 ? [] : [['Loaded on', describeLoads(job)] as const]),
            ['Created', <Age key="created" time={job.created_at} />],
            ['Training data', job.training_data_url ?? 'trajectories of the request'],
            ...(job.retry_of === null ? [] : [['Retry of', <JobLink key="retry" id={job.retry_of} />] as const]),
          ]}
        />
      </Section>
      <Section title="Settings">
        <Settings job={job} />
      </Section>
      <div className={classes.columns}>
        <Section title="Events">
          <Events job={job} />
        </Section>
        <Section title="Log">
          <Logs job={job} />
        </Section>
      </div>
    </>
  )
}

function JobLink({ id }: { id: string }) {
  const params = useParams({ from: route })
  return (
    <Link className={classes.holder} to="/$entity/$project/jobs/$job" params={{ ...params, job: id }}>
      job {id.slice(0, 8)}
    </Link>
  )
}

/** The engines that have the checkpoint of a job, or why they have not. */
function describeLoads({ loads }: JobDetail): string {
  return loads.map(({ pod, error }) => (error === null ? pod : `${pod}: ${error}`)).join(', ')
}

function ProbableStart({ time }: { time: string }) {
  const now = useNow(10_000)
  return <p title={formatTime(time)}>It probably starts {formatUntil(time, now)}, if no other job comes before it.</p>
}

/** What a person wants to know first: why the job waits or failed, and what its warnings say. */
function Verdict({ job: { state, waiting, failure, warnings } }: { job: JobDetail }) {
  return (
    <div className={classes.verdicts}>
      {waiting && (
        <div className={classes.verdict} role="status">
          <h2>Why it waits{waiting.position !== null && `: position ${waiting.position}`}</h2>
          <p>{waiting.sentence}</p>
          {waiting.estimated_start_at !== null && <ProbableStart time={waiting.estimated_start_at} />}
          {waiting.reason === 'Paused' && <PauseJobs resumeOnly />}
          {waiting.holder && (
            <p>
              Before it: <JobLink id={waiting.holder.job_id} />
            </p>
          )}
        </div>
      )}
      {failure && (
        <div className={classes.verdict} data-tone="orange">
          <h2>{isFinal(state) ? `${state}: ${failure.code}` : `The last attempt ended: ${failure.code}`}</h2>
          <p>{failure.message}</p>
          <p>
            {failure.retryable ? 'The same job may succeed when it is sent again.' : 'The same job would fail again.'}
          </p>
        </div>
      )}
      {warnings.map(({ code, message }) => (
        <div key={code + message} className={classes.verdict} data-tone="orange">
          <h2>Warning: {code}</h2>
          <p>{message}</p>
        </div>
      ))}
    </div>
  )
}
