import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { baseUrl } from '../../data/base.ts'
import { locate } from '../../data/client.ts'
import { usePolling } from '../../data/live.ts'
import type { Job } from '../../data/models.ts'
import { apiQuery } from '../../data/queries.ts'
import { revealHidden } from '../../logic/chat.ts'
import { writeCurl } from '../../logic/command.ts'
import { isFinal } from '../../logic/jobs.ts'
import { readInteger } from '../../logic/search.ts'
import { formatClock } from '../../logic/time.ts'
import { Segments } from '../../parts/controls.tsx'
import { Answered, Empty } from '../../parts/state.tsx'
import classes from './job.module.css'

const operation = 'GET /v1/preview/training-jobs/{training_job_id}/logs'
const route = '/inside/$entity/$project/jobs/$job'

/** The log of an attempt: of the newest, or of the one that the address names. */
export function Logs({ job }: { job: Job }) {
  const { attempt } = useSearch({ from: route })
  const chosen = readInteger(attempt)
  const polling = usePolling()
  const { address } = locate(operation, { path: { training_job_id: job.id } })
  const logs = useQuery({
    ...apiQuery(operation, {
      path: { training_job_id: job.id },
      query: { limit: 1000, ...(chosen !== undefined && { attempt: chosen }) },
    }),
    refetchInterval: isFinal(job.state) ? false : Math.min(polling, 5_000),
  })
  return (
    <>
      {job.attempt > 1 && <Attempts last={job.attempt} chosen={chosen ?? job.attempt} />}
      <Answered result={logs} rows={5}>
        {({ data, has_more }) =>
          data.length === 0 ? (
            <Empty title="Its log is empty" command={writeCurl(baseUrl, { address, accept: 'text/plain' })}>
              A trainer writes it while it works on the job. The command reads it.
            </Empty>
          ) : (
            <ol className={classes.logs} tabIndex={0} aria-label="Log">
              {data.map(({ id, time, level, text }) => (
                <li key={id} data-level={level}>
                  <time dateTime={time}>{formatClock(time)}</time>
                  <span>{revealHidden(text)}</span>
                </li>
              ))}
              {has_more && <li>The first 1,000 lines. Use the API for all.</li>}
            </ol>
          )
        }
      </Answered>
    </>
  )
}

function Attempts({ last, chosen }: { last: number; chosen: number }) {
  const { job } = useParams({ from: route })
  const navigate = useNavigate({ from: '/$entity/$project/jobs/$job' })
  const choices = Array.from({ length: Math.min(last, 12) }, (_, index) => String(last - index)).toReversed()
  return (
    <p className={classes.attempts}>
      Attempt{' '}
      <Segments
        key={job}
        label="Attempt"
        choices={choices}
        value={String(chosen)}
        onChoose={(attempt) => void navigate({ search: { attempt }, replace: true })}
      />
    </p>
  )
}
