import type { JobDetail } from '../../data/models.ts'
import { listLanes, listLoadLanes, shareDone } from '../../logic/jobs.ts'
import { formatClock, formatDuration, formatTime } from '../../logic/time.ts'
import { useNow } from '../../parts/badges.tsx'
import classes from './job.module.css'

/** One lane for each phase that the job has reached, and for each engine that loaded what it made, on one scale of time. */
export function Lanes({ job }: { job: JobDetail }) {
  const now = useNow(job.finished_at === null ? 1_000 : 3_600_000)
  const lanes = [...listLanes(job.timeline, now), ...listLoadLanes(job.timeline, job.loads)]
  const [begin, end] = [lanes[0]!.from, Math.max(...lanes.map(({ to }) => to))]
  const whole = Math.max(1, end - begin)
  const share = shareDone(job.progress)
  return (
    <ol className={classes.lanes}>
      {lanes.map(({ name, pod, from, to, isOpen }) => (
        <li key={name + pod} data-open={isOpen}>
          <b title={pod}>{name}</b>
          <time dateTime={new Date(from).toISOString()} title={formatTime(new Date(from).toISOString())}>
            {formatClock(new Date(from).toISOString())}
          </time>
          <span className={classes.track}>
            <span
              style={{
                marginLeft: `${((from - begin) / whole) * 100}%`,
                width: `max(3px, ${((to - from) / whole) * 100}%)`,
              }}
            />
          </span>
          <span className={classes.length}>
            {formatDuration(to - from)}
            {name === 'running' && isOpen && share !== undefined && ` · ${Math.round(share * 100)} %`}
          </span>
        </li>
      ))}
    </ol>
  )
}
