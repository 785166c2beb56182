import { useQuery } from '@tanstack/react-query'
import { usePolling } from '../../data/live.ts'
import type { Job } from '../../data/models.ts'
import { wholeListQuery, type Item } from '../../data/queries.ts'
import { isFinal } from '../../logic/jobs.ts'
import { describeSize, formatMetric } from '../../logic/numbers.ts'
import { formatClock } from '../../logic/time.ts'
import { Answered, Empty } from '../../parts/state.tsx'
import classes from './job.module.css'

type Event = Item<'GET /v1/preview/training-jobs/{training_job_id}/events'>

/** What the job has reported, the newest first. */
export function Events({ job }: { job: Job }) {
  const polling = usePolling()
  const events = useQuery({
    ...wholeListQuery('GET /v1/preview/training-jobs/{training_job_id}/events', { path: { training_job_id: job.id } }),
    refetchInterval: isFinal(job.state) ? false : Math.min(polling, 5_000),
  })
  return (
    <Answered result={events} rows={5}>
      {({ items, ...size }) =>
        items.length === 0 ? (
          <Empty title="No events yet" />
        ) : (
          <ol className={classes.events} tabIndex={0} aria-label="Events">
            {items.toReversed().map((event) => (
              <li key={event.id} data-failed={event.type === 'training_failed'}>
                <time dateTime={event.created_at}>{formatClock(event.created_at)}</time>
                <b>{event.gradient_step === null ? event.type : `step ${event.gradient_step}`}</b>
                <span>{describeEvent(event)}</span>
              </li>
            ))}
            {!size.isWhole && <li>The first {describeSize(items.length, size, 'event')}. Use the API for all.</li>}
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
