import { useMemo } from 'react'
import { useQuery } from '@tanstack/react-query'
import type { Model } from '../../data/models.ts'
import { apiQuery } from '../../data/queries.ts'
import { revealHidden, type Turn } from '../../logic/chat.ts'
import { diffWords, splitWords } from '../../logic/diff.ts'
import { formatMetric } from '../../logic/numbers.ts'
import { Answered } from '../../parts/state.tsx'
import { useTurns, type FullTrajectory } from './full-trajectory.ts'
import classes from './trajectory.module.css'

interface DifferenceProps {
  model: Model
  trajectory: FullTrajectory
  other: string
}

/** What another trajectory says differently, turn by turn. */
export function Difference({ model, trajectory, other }: DifferenceProps) {
  const path = { model_id: model.id, trajectory_id: other }
  const result = useQuery(apiQuery('GET /v1/preview/models/{model_id}/trajectories/{trajectory_id}', { path }))
  return <Answered result={result}>{(found) => <Compared a={found} b={trajectory} />}</Answered>
}

function Compared({ a, b }: { a: FullTrajectory; b: FullTrajectory }) {
  const [left, right] = [useTurns(a), useTurns(b)]
  const count = Math.max(left.length, right.length)
  return (
    <>
      <p className={classes.rewards}>
        From step {a.step} with reward <b>{formatMetric(a.reward)}</b> to step {b.step} with reward{' '}
        <b>{formatMetric(b.reward)}</b>
      </p>
      <ol className={classes.difference}>
        {Array.from({ length: count }, (_, index) => (
          <TurnDifference key={index} a={left[index]} b={right[index]} />
        ))}
      </ol>
    </>
  )
}

/** All of a turn's text, its tool calls too. */
function textOf(turn: Turn | undefined): string {
  if (!turn) return ''
  return [turn.text, ...turn.toolCalls.map(({ name, arguments: given }) => `${name} ${given}`)].join('\n')
}

function TurnDifference({ a, b }: { a: Turn | undefined; b: Turn | undefined }) {
  const changes = useMemo(() => diffWords(splitWords(textOf(a)), splitWords(textOf(b))), [a, b])
  const isSame = changes.every(({ kind }) => kind === 'same')
  return (
    <li>
      <h2>
        {revealHidden((b ?? a)!.role)} {isSame && <small>the same</small>}
      </h2>
      <p>
        {changes.map(({ kind, text }, index) => {
          const shown = revealHidden(text)
          if (kind === 'same') return <span key={index}>{shown}</span>
          return kind === 'added' ? <ins key={index}>{shown}</ins> : <del key={index}>{shown}</del>
        })}
      </p>
    </li>
  )
}
