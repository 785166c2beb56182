import { useMemo } from 'react'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { apiQuery } from '../../data/queries.ts'
import { readTurns } from '../../logic/chat.ts'
import { listHistories } from '../../logic/histories.ts'
import { findLastAnswer, takeMessages, type Message } from '../../logic/playground.ts'
import { readInteger } from '../../logic/search.ts'
import controls from '../../parts/controls.module.css'
import { Conversation } from '../../parts/conversation.tsx'
import { Failure, Loading } from '../../parts/state.tsx'
import { route } from './use-draft.ts'
import classes from './playground.module.css'

const operation = 'GET /v1/preview/models/{model_id}/trajectories/{trajectory_id}'

/** The conversation of a trajectory up to one of its turns, which is answered again. */
export function useContinuedTrajectory() {
  const { entity, project } = useParams({ from: route })
  const { run, trajectory: id, turn } = useSearch({ from: route })
  const path = { model_id: `${entity}/${project}/${run ?? ''}`, trajectory_id: id ?? '' }
  const { data, error } = useQuery({ ...apiQuery(operation, { path }), enabled: run !== undefined && id !== undefined })
  const items = useMemo(() => data && listHistories(data)[0], [data])
  const at = readInteger(turn) ?? findLastAnswer(items)
  const messages = useMemo((): Message[] => (items === undefined ? [] : takeMessages(items, at)), [items, at])
  return { messages, error, isLoaded: data !== undefined, at, count: items?.length ?? 0 }
}

/** What the models are asked to go on with. */
export function ContinuedTrajectory({ beginning }: { beginning: ReturnType<typeof useContinuedTrajectory> }) {
  const { entity, project } = useParams({ from: route })
  const { run = '', trajectory = '' } = useSearch({ from: route })
  const navigate = useNavigate({ from: '/$entity/$project/playground' })
  const { messages, error, isLoaded, at, count } = beginning
  const remove = { run: undefined, trajectory: undefined, turn: undefined }
  if (error) return <Failure error={error} />
  if (!isLoaded) return <Loading rows={2} />
  return (
    <div className={classes.beginning}>
      <header>
        <h2>
          <Link to="/$entity/$project/runs/$run/trajectories/$trajectory" params={{ entity, project, run, trajectory }}>
            Trajectory {trajectory.slice(0, 8)}
          </Link>
        </h2>
        <button
          type="button"
          className={controls.quiet}
          aria-label="Leave the trajectory out"
          onClick={() => void navigate({ search: (all) => ({ ...all, ...remove }), replace: true })}
        >
          ✕
        </button>
      </header>
      <label>
        Before turn {at} of {count}
        <input
          type="range"
          min={0}
          max={count}
          value={at}
          onInput={(event) => {
            const turn = event.currentTarget.value
            void navigate({ search: (all) => ({ ...all, turn }), replace: true })
          }}
        />
      </label>
      <div className={classes.messages} tabIndex={0} role="region" aria-label="The conversation so far">
        <Conversation turns={readTurns(messages)} />
      </div>
    </div>
  )
}
