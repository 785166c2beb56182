import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { apiQuery } from '../../data/queries.ts'
import { explainNoHistory, readHistories } from '../../logic/histories.ts'
import { formatMetric, formatSigned } from '../../logic/numbers.ts'
import { Conversation } from '../../parts/conversation.tsx'
import controls from '../../parts/controls.module.css'
import { Peek } from '../../parts/peek.tsx'
import { Answered } from '../../parts/state.tsx'
import { useModel } from './use-model.ts'
import classes from './trajectories.module.css'

/** A trajectory beside the list. */
export function TrajectoryPeek({ id, onClose }: { id: string; onClose: () => void }) {
  const model = useModel()
  const params = useParams({ from: '/inside/$entity/$project/runs/$run' })
  const path = { model_id: model.id, trajectory_id: id }
  const result = useQuery(apiQuery('GET /v1/preview/models/{model_id}/trajectories/{trajectory_id}', { path }))
  const link = (
    <Link
      to="/$entity/$project/runs/$run/trajectories/$trajectory"
      params={{ ...params, trajectory: id }}
      className={controls.button}
    >
      Open
    </Link>
  )
  return (
    <Peek label="Trajectory" id={id} link={link} onClose={onClose}>
      <Answered result={result} rows={4}>
        {(trajectory) => (
          <>
            <p className={classes.summary}>
              reward {formatMetric(trajectory.reward)} · advantage {formatSigned(trajectory.advantage)} · push{' '}
              {formatSigned(trajectory.push)}
            </p>
            <Conversation turns={readHistories(trajectory)} empty={explainNoHistory(trajectory)} />
          </>
        )}
      </Answered>
    </Peek>
  )
}
