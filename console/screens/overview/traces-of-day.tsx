import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { callStatisticsQuery } from '../../data/calls.ts'
import { countOf } from '../../logic/numbers.ts'
import { dayMs } from '../../logic/time.ts'
import { Section } from '../../parts/page.tsx'
import classes from './overview.module.css'

/** The calls of the last day, and whether there ever were some. What traces cannot tell, the overview does not show. */
export function useTraces(project: string, refetchInterval: number) {
  const [from] = useState(() => new Date(Date.now() - dayMs).toISOString())
  const day = useQuery({ ...callStatisticsQuery(project, { filter: {}, from }), refetchInterval })
  const ever = useQuery({ ...callStatisticsQuery(project, { filter: {} }), enabled: day.data?.calls === 0 })
  const { data } = day
  const errors = data?.statuses.find(({ value }) => value === 'error')?.calls ?? 0
  return {
    ofDay: data && data.calls > 0 ? { from, calls: data.calls, errors, isWhole: data.is_whole } : undefined,
    ever: data?.calls === 0 ? (ever.isPending ? undefined : (ever.data?.calls ?? 0)) : data ? data.calls : 0,
  }
}

interface TracesOfDayProps {
  from: string
  calls: number
  errors: number
  isWhole: boolean
}

/** What was traced in the last day, with the way to what failed. */
export function TracesOfDay({ from, calls, errors, isWhole }: TracesOfDayProps) {
  const params = useParams({ from: '/inside/$entity/$project' })
  return (
    <Section
      title="Traces of the last day"
      aside={
        <Link to="/$entity/$project/weave/traces" params={params}>
          All traces
        </Link>
      }
    >
      <p className={classes.traces}>
        <Link to="/$entity/$project/weave/calls" params={params} search={{ from }}>
          {!isWhole && 'more than '}
          {countOf(calls, 'call')}
        </Link>
        {errors > 0 && (
          <Link
            to="/$entity/$project/weave/calls"
            params={params}
            search={{ from, status: 'error' }}
            className={classes.failure}
          >
            {countOf(errors, 'error')}
          </Link>
        )}
      </p>
    </Section>
  )
}
