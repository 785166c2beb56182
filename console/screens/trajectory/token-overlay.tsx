import { useMemo, useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { apiQuery } from '../../data/queries.ts'
import { tokensQuery } from '../../data/tokens.ts'
import type { Model } from '../../data/models.ts'
import { revealHidden } from '../../logic/chat.ts'
import { explainNoHistory, isOfFirstHistory } from '../../logic/histories.ts'
import { explainLoss, judgeToken, readLoss, writeFormula, type Loss } from '../../logic/loss.ts'
import {
  makeScale,
  measureTurns,
  readStatistics,
  type MeasuredToken,
  type OverlayName,
  type Scale,
} from '../../logic/overlays.ts'
import { Conversation } from '../../parts/conversation.tsx'
import { Failure } from '../../parts/state.tsx'
import { useTurns, type FullTrajectory } from './full-trajectory.ts'
import classes from './overlay.module.css'

// The trainer reports them some seconds after the end of the job.
const waitingMs = 5_000

/** A conversation whose tokens have the colours of an overlay, with its scale and the loss of the token that is looked at. */
export function TokenOverlay({
  model,
  trajectory,
  name,
}: {
  model: Model
  trajectory: FullTrajectory
  name: OverlayName
}) {
  const turns = useTurns(trajectory)
  const { data, error } = useQuery({
    ...tokensQuery(model.id, trajectory.id),
    refetchInterval: ({ state }) => (state.data?.missing?.reason === 'not_reported' ? waitingMs : false),
  })
  const loss = useLoss(trajectory.job_id)
  const [picked, setPicked] = useState<MeasuredToken>()
  const measured = useMemo(
    () => data && measureTurns(turns, readStatistics(data.columns), (turn) => isOfFirstHistory(trajectory, turn)),
    [turns, data, trajectory],
  )
  const scale = useMemo(
    () =>
      measured &&
      loss &&
      makeScale(
        name,
        measured.flatMap((tokens) => tokens ?? []),
        loss,
      ),
    [name, measured, loss],
  )
  const hasNumbers = data?.missing === null || name === 'old log-probability'
  const overlay = measured && scale && hasNumbers ? { turns: measured, scale, onPick: setPicked } : undefined
  return (
    <>
      {error && <Failure error={error} />}
      {data?.missing && <Missing message={data.missing.message} isPart={name === 'old log-probability'} />}
      {data && !measured && (
        <Missing message="Its statistics do not fit its tokens: an answer was trained on whose log-probabilities, or the texts of whose tokens, are not known." />
      )}
      {data?.columns.dropped.includes(true) && (
        <Missing message="Dropped: one of its histories has more tokens than the trainer takes, and was not trained on." />
      )}
      {overlay && <Legend scale={overlay.scale} name={name} />}
      <Conversation turns={turns} overlay={overlay} empty={explainNoHistory(trajectory)} />
      {overlay && loss && <Explanation token={picked} loss={loss} scale={overlay.scale} name={name} />}
    </>
  )
}

/** The loss of a job; that of the defaults for a trajectory without one. */
function useLoss(jobId: string | null): Loss | undefined {
  const { data: job } = useQuery({
    ...apiQuery('GET /v1/preview/training-jobs/{training_job_id}', { path: { training_job_id: jobId ?? '' } }),
    enabled: jobId !== null,
  })
  return useMemo(() => (jobId === null ? readLoss({}) : job && readLoss(job.experimental_config ?? {})), [jobId, job])
}

function Missing({ message, isPart = false }: { message: string; isPart?: boolean }) {
  return (
    <p className={classes.missing} role="status">
      <b>{isPart ? 'Colours are from the answers themselves.' : 'No token statistics.'}</b> {message}
    </p>
  )
}

function Legend({ scale: { low, middle, high }, name }: { scale: Scale; name: OverlayName }) {
  return (
    <figure className={classes.legend} aria-label={`Scale of ${name}`}>
      {low !== '' && (
        <>
          <span>{/^[−+]/.test(low) ? low : `− ${low}`}</span>
          <span className={classes.ramp} data-side="low" />
        </>
      )}
      <span>{middle}</span>
      {high !== '' && (
        <>
          <span className={classes.ramp} data-side="high" />
          <span>{/^[−+]/.test(high) ? high : `+ ${high}`}</span>
        </>
      )}
    </figure>
  )
}

interface ExplanationProps {
  token: MeasuredToken | undefined
  loss: Loss
  scale: Scale
  name: OverlayName
}

/** The formula of the loss that trained a token, with its numbers. */
function Explanation({ token, loss, scale, name }: ExplanationProps) {
  return (
    <aside className={classes.explanation} aria-label="The loss of a token" aria-live="polite">
      <p>
        <span className={classes.name}>{loss.isPpo ? 'PPO' : 'CISPO'}</span> <code>loss = {writeFormula(loss)}</code>
      </p>
      {token === undefined ? (
        <p className={classes.hint}>Point at a token, or use the arrow keys, to see its numbers.</p>
      ) : (
        <Numbers token={token} loss={loss} scale={scale} name={name} />
      )}
    </aside>
  )
}

function Numbers({ token, loss, scale, name }: ExplanationProps & { token: MeasuredToken }) {
  const { statistics } = token
  return (
    <>
      <p>
        <code className={classes.token}>{JSON.stringify(revealHidden(token.token.text))}</code>{' '}
        {statistics ? judgeToken(statistics) : `${name} ${scale.write(token)}`}
      </p>
      {statistics && (
        <dl>
          {explainLoss(statistics, loss).map(({ name: term, value, meaning }) => (
            <div key={term}>
              <dt>{term}</dt>
              <dd>
                <b>{value}</b> <span>{meaning}</span>
              </dd>
            </div>
          ))}
        </dl>
      )}
    </>
  )
}
