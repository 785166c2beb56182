import type { ReactNode } from 'react'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { Model, Trajectory } from '../../data/models.ts'
import { apiQuery } from '../../data/queries.ts'
import { nameStep } from '../../logic/groups.ts'
import { formatMetric, formatSigned } from '../../logic/numbers.ts'
import { Answered } from '../../parts/state.tsx'
import classes from './trajectory.module.css'

const route = '/inside/$entity/$project/runs/$run/trajectories/$trajectory'
const operation = 'GET /v1/preview/models/{model_id}/trajectories'

interface SiblingsProps {
  model: Model
  trajectory: Trajectory
  children?: ReactNode
}

/** The other trajectories of the group, and those with the same prompt at other steps. */
export function Siblings({ model, trajectory, children }: SiblingsProps) {
  const { job_id, group_index, prompt_hash } = trajectory
  const path = { model_id: model.id }
  const group = useQuery({
    ...apiQuery(operation, { path, query: { prompt_hash, limit: 100, ...(job_id !== null && { job_id }) } }),
    select: ({ data }) => data.filter((row) => row.group_index === group_index && row.job_id === job_id),
  })
  const others = useQuery({
    ...apiQuery(operation, { path, query: { prompt_hash, limit: 100 } }),
    select: ({ data }) => data.filter((row) => row.step !== trajectory.step),
  })
  return (
    <aside className={classes.siblings} aria-label="Siblings">
      <h2>Its group</h2>
      <Answered result={group} rows={4}>
        {(rows) => <List rows={rows} own={trajectory.id} />}
      </Answered>
      <h2>The same prompt at other steps</h2>
      <Answered result={others} rows={4}>
        {(rows) => (rows.length === 0 ? <p>none</p> : <List rows={rows} own={trajectory.id} withStep />)}
      </Answered>
      {children}
    </aside>
  )
}

function List({ rows, own, withStep = false }: { rows: readonly Trajectory[]; own: string; withStep?: boolean }) {
  const params = useParams({ from: route })
  return (
    <ul>
      {rows.map(({ id, reward, advantage, trajectory_index, step }) => (
        <li key={id} aria-current={id === own ? 'true' : undefined}>
          <Link
            to="/$entity/$project/runs/$run/trajectories/$trajectory"
            params={{ ...params, trajectory: id }}
            search={(all) => ({ ...all, diff: undefined })}
          >
            <span>{withStep ? nameStep(step) : `#${trajectory_index}`}</span>
            <b>{formatMetric(reward)}</b>
            <span>{formatSigned(advantage)}</span>
          </Link>
          {id !== own && (
            <Link
              to="/$entity/$project/runs/$run/trajectories/$trajectory"
              params={params}
              search={(all) => ({ ...all, diff: id })}
              aria-label={`diff with ${withStep ? `${nameStep(step)}, ` : ''}#${trajectory_index}`}
            >
              diff
            </Link>
          )}
        </li>
      ))}
    </ul>
  )
}
