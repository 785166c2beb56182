import { useEffect, useState } from 'react'
import { isFinal } from '../logic/jobs.ts'
import { formatSigned } from '../logic/numbers.ts'
import { drawSparkline, type Point } from '../logic/series.ts'
import { formatAge, formatTime } from '../logic/time.ts'
import classes from './badges.module.css'

const signs: Record<string, string> = {
  Succeeded: '✓',
  Failed: '✕',
  Cancelled: '–',
  Pending: '○',
  Queued: '○',
  Suspended: '○',
}

/** The state of a job: a sign, a colour and its word. */
export function StateBadge({ state }: { state: string }) {
  const kind = state === 'Failed' ? 'failed' : isFinal(state) ? 'ended' : signs[state] ? 'waiting' : 'active'
  return (
    <span className={classes.state} data-kind={kind}>
      <span className={classes.sign} aria-hidden="true">
        {signs[state] ?? '●'}
      </span>
      {state}
    </span>
  )
}

export function Chip({ children, tone }: { children: string; tone?: 'blue' | 'orange' }) {
  return (
    <span className={classes.chip} data-tone={tone}>
      {children}
    </span>
  )
}

/** A number whose sign matters. */
export function Signed({ value }: { value: number | null }) {
  return (
    <b className={classes.signed} data-sign={Math.sign(value ?? 0)}>
      {formatSigned(value)}
    </b>
  )
}

/** A time as its age, which grows. */
export function Age({ time }: { time: string }) {
  const now = useNow(10_000)
  return (
    <time dateTime={time} title={formatTime(time)}>
      {formatAge(time, now)}
    </time>
  )
}

/** The time, again after each period. */
export function useNow(periodMs: number): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), periodMs)
    return () => clearInterval(timer)
  }, [periodMs])
  return now
}

const [width, height] = [96, 20]

/** A small chart without axes, beside the number that it ends with. */
export function Sparkline({ points }: { points: readonly Point[] }) {
  return (
    <svg className={classes.sparkline} viewBox={`-1 -2 ${width + 2} ${height + 4}`} aria-hidden="true">
      <polyline points={drawSparkline(points, width, height)} />
    </svg>
  )
}
