import { useQuery } from '@tanstack/react-query'
import { baseUrl } from '../../data/base.ts'
import { locate } from '../../data/client.ts'
import { usePolling } from '../../data/live.ts'
import type { Job } from '../../data/models.ts'
import { wholeListQuery, type Item } from '../../data/queries.ts'
import { writeCurl } from '../../logic/command.ts'
import { isFinal } from '../../logic/jobs.ts'
import { describeSize, formatMetric } from '../../logic/numbers.ts'
import { formatClock } from '../../logic/time.ts'
import { Answered, Empty } from '../../parts/state.tsx'
import classes from './job.module.css'

const operation = 'GET /v1/preview/training-jobs/{training_job_id}/events'
type Event = Item<typeof operation>

// They are read again with each change. The charts of the run have all of its steps.
const maxShown = 200

/** What the job has reported last, the newest first. */
export function Events({ job }: { job: Job }) {
  const polling = usePolling()
  const path = { training_job_id: job.id }
  const events = useQuery({
    ...wholeListQuery(operation, { path, query: { order: 'desc' } }, maxShown),
    refetchInterval: isFinal(job.state) ? false : Math.min(polling, 5_000),
  })
  return (
    <Answered result={events} rows={5}>
      {({ items, ...size }) =>
        items.length === 0 ? (
          <Empty
            title="No events yet"
            command={writeCurl(baseUrl, { ...locate(operation, { path }), accept: 'text/event-stream' })}
          >
            A trainer reports them while it works on the job. The command follows them.
          </Empty>
        ) : (
          <ol className={classes.events} tabIndex={0} aria-label="Events">
            {items.map((event) => (
              <li key={event.id} data-failed={event.type === 'training_failed'}>
                <time dateTime={event.created_at}>{formatClock(event.created_at)}</time>
                <b>{event.gradient_step === null ? event.type : `step ${event.gradient_step}`}</b>
                <span>{describeEvent(event)}</span>
              </li>
            ))}
            {!size.isWhole && <li>The newest {describeSize(items.length, size, 'event')}. Use the API for all.</li>}
          </ol>
        )
      }
    </Answered>
  )
}

const shownMetrics = ['loss', 'reward', 'entropy', 'kl_div', 'grad_norm']

/** The most important numbers of an event, or its message. */
function describeEvent({ data }: Event): string {
  const values = data
  if (typeof values['error_message'] === 'string') return values['error_message']
  return shownMetrics
    .filter((key) => typeof values[key] === 'number')
    .map((key) => `${key} ${formatMetric(values[key] as number)}`)
    .join('   ')
}
