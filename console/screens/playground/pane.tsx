import { useState } from 'react'
import { meanLogprob, presentAnswer } from '../../logic/chat-stream.ts'
import { revealHidden } from '../../logic/chat.ts'
import { countOf, formatMetric } from '../../logic/numbers.ts'
import { explainSampled, makeSampledScale, type MeasuredToken } from '../../logic/overlays.ts'
import { formatDuration } from '../../logic/time.ts'
import { useNow } from '../../parts/badges.tsx'
import controls from '../../parts/controls.module.css'
import { Conversation } from '../../parts/conversation.tsx'
import { Failure } from '../../parts/state.tsx'
import { ModelChoice } from './model-choice.tsx'
import { useConversation, type Question, type Round } from './use-conversation.ts'
import classes from './playground.module.css'

interface PaneProps {
  model: string
  label: string
  question: Question | undefined
  /** Whether tokens are coloured by their log-probabilities. */
  isColoured: boolean
  onModel: (model: string) => void
  /** Undefined for the last pane that is left. */
  onClose: (() => void) | undefined
  report: (rounds: readonly Round[]) => void
}

/** A model and its answers. */
export function Pane({ model, label, question, isColoured, onModel, onClose, report }: PaneProps) {
  const { rounds, isBusy, stop } = useConversation(model, question, report)
  return (
    <section className={classes.pane} aria-label={label}>
      <header>
        <ModelChoice value={model} onChoose={onModel} />
        {isBusy && (
          <button type="button" className={controls.button} onClick={stop}>
            Stop
          </button>
        )}
        {onClose && (
          <button type="button" className={controls.quiet} aria-label={`Close the pane of ${model}`} onClick={onClose}>
            ✕
          </button>
        )}
      </header>
      <div className={classes.answers} aria-live="polite" aria-busy={isBusy}>
        {rounds.length === 0 && <p className={classes.hint}>Its answer appears here.</p>}
        {rounds.map((round, index) => (
          <Answer key={index} round={round} isColoured={isColoured} />
        ))}
      </div>
    </section>
  )
}

function Answer({ round, isColoured }: { round: Round; isColoured: boolean }) {
  const [picked, setPicked] = useState<MeasuredToken>()
  const { prompt, answer, error } = round
  const isEmpty = answer.text === '' && answer.reasoning === '' && answer.toolCalls.length === 0
  const isUnanswered = isEmpty && (round.endMs === undefined || error !== undefined || round.isStopped)
  const question = { role: 'user', text: prompt, reasoning: undefined, toolCalls: [], tokens: undefined }
  const turns = [
    ...(prompt === '' ? [] : [{ ...question, finish: undefined, isSampled: false }]),
    ...(isUnanswered ? [] : [presentAnswer(answer)]),
  ]
  return (
    <div className={classes.round}>
      <Conversation
        turns={turns}
        overlay={{
          turns: turns.map(({ tokens }) => tokens?.map((token) => ({ token, statistics: undefined }))),
          scale: makeSampledScale(isColoured),
          onPick: setPicked,
        }}
      />
      {picked && <p className={classes.picked}>{revealHidden(explainSampled(picked))}</p>}
      {error && <Failure error={error} />}
      <Times round={round} />
    </div>
  )
}

/** How long the answer took, and how many tokens it has. */
function Times({ round }: { round: Round }) {
  const { startMs, firstMs, endMs, answer, isStopped, error } = round
  if (error) return null
  if (endMs === undefined && firstMs === undefined) return <Waiting startMs={startMs} />
  const tokens = answer.usage?.completion ?? answer.logprobs.length
  const mean = meanLogprob(answer)
  const parts = [
    isStopped && 'stopped',
    firstMs !== undefined && `first token ${formatDuration(firstMs - startMs)}`,
    endMs !== undefined && `${formatDuration(endMs - startMs)} in all`,
    tokens > 0 && countOf(tokens, 'token'),
    answer.usage && `${countOf(answer.usage.prompt, 'token')} of prompt`,
    mean !== undefined && `mean log-probability ${formatMetric(mean)}`,
  ]
  return <p className={classes.times}>{parts.filter((part) => typeof part === 'string').join(' · ')}</p>
}

// Later, an engine probably has to start first.
const slowMs = 3_000

function Waiting({ startMs }: { startMs: number }) {
  const waitedMs = useNow(500) - startMs
  return (
    <p className={classes.times} role="status">
      Waiting for the first token, {formatDuration(Math.max(0, waitedMs))}
      {waitedMs > slowMs && '. An engine may have to start, or to load this checkpoint'}
    </p>
  )
}
