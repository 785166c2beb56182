import { useMemo } from 'react'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { answerCallsQuery } from '../../data/trajectory-calls.ts'
import { latencyOf } from '../../logic/calls.ts'
import { listHistories } from '../../logic/histories.ts'
import { formatClock, formatDuration } from '../../logic/time.ts'
import { listAnswers, listNamedCalls, type AnswerCall, type NamedCall } from '../../logic/trajectory-calls.ts'
import controls from '../../parts/controls.module.css'
import { Answered } from '../../parts/state.tsx'
import type { FullTrajectory } from './full-trajectory.ts'

const route = '/inside/$entity/$project/runs/$run/trajectories/$trajectory'

/** The traced calls that a trajectory was made of: those that its client names, and its chats if a person looks for them. */
export function TrajectoryCalls({ trajectory }: { trajectory: FullTrajectory }) {
  const { entity, project } = useParams({ from: route })
  const { calls } = useSearch({ from: route })
  const navigate = useNavigate({ from: '/$entity/$project/runs/$run/trajectories/$trajectory' })
  const named = listNamedCalls(trajectory.trajectory['metadata'], { entity, project })
  return (
    <>
      <h2>Its calls</h2>
      {named.length > 0 && (
        <ul>
          {named.map((each) => (
            <li key={each.kind + each.id}>
              <Named call={each} />
            </li>
          ))}
        </ul>
      )}
      {calls === '1' ? (
        <Found trajectory={trajectory} />
      ) : (
        <button
          type="button"
          className={controls.button}
          onClick={() => void navigate({ search: (all) => ({ ...all, calls: '1' }), replace: true })}
        >
          Find its chats in the traces
        </button>
      )}
    </>
  )
}

function Named({ call: { kind, entity, project, id } }: { call: NamedCall }) {
  const params = { entity, project }
  if (kind === 'trace')
    return (
      <Link to="/$entity/$project/weave/calls" params={params} search={{ filter: JSON.stringify({ trace_ids: [id] }) }}>
        <span>trace {id.slice(0, 8)}</span>
      </Link>
    )
  return (
    <Link to="/$entity/$project/weave/calls/$call" params={{ ...params, call: id }}>
      <span>call {id.slice(0, 8)}</span>
    </Link>
  )
}

/** The chats of this project whose answers the trajectory has. */
function Found({ trajectory }: { trajectory: FullTrajectory }) {
  const { entity, project } = useParams({ from: route })
  const answers = useMemo(() => listAnswers(listHistories(trajectory).flat()), [trajectory])
  const result = useQuery(
    answerCallsQuery({ answers, createdAt: trajectory.created_at, projectId: `${entity}/${project}` }),
  )
  return (
    <Answered result={result} rows={2}>
      {(found) =>
        found.length === 0 ? (
          <p>No chat of the day before it, traced in this project, has one of its answers.</p>
        ) : (
          <ul>
            {found.map((each) => (
              <li key={`${each.turn} ${each.call.id}`}>
                <FoundCall found={each} />
              </li>
            ))}
          </ul>
        )
      }
    </Answered>
  )
}

function FoundCall({ found: { turn, call, isExact } }: { found: AnswerCall }) {
  const { entity, project } = useParams({ from: route })
  const latency = latencyOf(call)
  return (
    <Link
      to="/$entity/$project/weave/calls/$call"
      params={{ entity, project, call: call.id }}
      title={isExact ? 'Its tokens have the same log-probabilities' : 'It says the same'}
    >
      <span>turn {turn + 1}</span>
      <b>{formatClock(call.started_at)}</b>
      <span>{latency === undefined ? '' : formatDuration(latency)}</span>
    </Link>
  )
}
