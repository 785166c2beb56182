import { useMemo } from 'react'
import { useQuery } from '@tanstack/react-query'
import type { Model } from '../../data/models.ts'
import { apiQuery } from '../../data/queries.ts'
import { revealHidden, type Turn } from '../../logic/chat.ts'
import { alignTurns, diffWords, splitWords } from '../../logic/diff.ts'
import { countOf, formatCount, formatMetric } from '../../logic/numbers.ts'
import { Answered } from '../../parts/state.tsx'
import { useTurns, type FullTrajectory } from './full-trajectory.ts'
import classes from './trajectory.module.css'

// Of longer answers, the colours of the text say enough.
const maxTokens = 200

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
  const pairs = useMemo(() => alignTurns(left, right), [left, right])
  return (
    <>
      <p className={classes.rewards}>
        From step {a.step} with reward <b>{formatMetric(a.reward)}</b> to step {b.step} with reward{' '}
        <b>{formatMetric(b.reward)}</b>
      </p>
      <ol className={classes.difference}>
        {pairs.map((pair, index) => (
          <TurnDifference key={index} a={pair.a} b={pair.b} />
        ))}
      </ol>
    </>
  )
}

/** The parts that are compared: the sampled tokens, if both turns have them, else words. */
function partsOf(turn: Turn | undefined, asTokens: boolean): string[] {
  if (!turn) return []
  if (asTokens && turn.tokens) return turn.tokens.map(({ text }) => text)
  const calls = turn.toolCalls.map(({ name, arguments: given }) => `${name} ${given}`)
  return splitWords([turn.text, ...calls].join('\n'))
}

function TurnDifference({ a, b }: { a: Turn | undefined; b: Turn | undefined }) {
  const asTokens = (a === undefined || a.tokens !== undefined) && (b === undefined || b.tokens !== undefined)
  const changes = useMemo(() => diffWords(partsOf(a, asTokens), partsOf(b, asTokens)), [a, b, asTokens])
  const isSame = changes.every(({ kind }) => kind === 'same')
  return (
    <li>
      <h3>
        {revealHidden((b ?? a)!.role)} {isSame && <small>the same</small>}
        {!isSame && asTokens && (
          <small>
            {countOf(a?.tokens?.length ?? 0, 'token')} then, {countOf(b?.tokens?.length ?? 0, 'token')} now
          </small>
        )}
      </h3>
      <p>
        {changes.map(({ kind, text }, index) => {
          const shown = revealHidden(text)
          if (kind === 'same') return <span key={index}>{shown}</span>
          return kind === 'added' ? <ins key={index}>{shown}</ins> : <del key={index}>{shown}</del>
        })}
      </p>
      {!isSame && asTokens && (
        <div className={classes.tokens}>
          <TokenLine label="then" turn={a} />
          <TokenLine label="now" turn={b} />
        </div>
      )}
    </li>
  )
}

/** The tokens of an answer one by one, with their log-probabilities at sampling. */
function TokenLine({ label, turn }: { label: string; turn: Turn | undefined }) {
  return (
    <ol aria-label={`Tokens ${label}`} className={classes.tokenLine}>
      <li className={classes.tokenLabel}>{label}</li>
      {turn?.tokens?.slice(0, maxTokens).map(({ text, logprob }, index) => (
        <li key={index}>
          <code>{revealHidden(text)}</code> <small>{formatMetric(logprob)}</small>
        </li>
      ))}
      {(turn?.tokens?.length ?? 0) > maxTokens && <li>{formatCount(turn!.tokens!.length - maxTokens)} more</li>}
    </ol>
  )
}
