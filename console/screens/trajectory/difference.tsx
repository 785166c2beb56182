import { revealHidden } from '../../logic/chat.ts'
import { nameStep } from '../../logic/groups.ts'
import { countOf, formatCount, formatMetric } from '../../logic/numbers.ts'
import type { ShownChange, ShownTokens, TurnDifference } from '../../logic/trajectory-diff.ts'
import type { ComparedTrajectories } from '../../data/trajectory-diff.ts'
import classes from './trajectory.module.css'

/** What another trajectory says differently, turn by turn. */
export function Difference({ compared: { a, b, difference } }: { compared: ComparedTrajectories }) {
  return (
    <>
      <p className={classes.rewards}>
        From {nameStep(a.step)} with reward <b>{formatMetric(a.reward)}</b> to {nameStep(b.step)} with reward{' '}
        <b>{formatMetric(b.reward)}</b>
      </p>
      <ol className={classes.difference}>
        {difference.turns.map((turn, index) => (
          <Turn key={index} turn={turn} />
        ))}
        {difference.omitted > 0 && <li>{countOf(difference.omitted, 'more turn')}. The downloads have all.</li>}
      </ol>
    </>
  )
}

function Turn({ turn: { role, isSame, changes, tokens } }: { turn: TurnDifference }) {
  return (
    <li>
      <h3>
        {revealHidden(role)} {isSame && <small>the same</small>}
        {tokens && (
          <small>
            {countOf(tokens.before.count, 'token')} then, {countOf(tokens.after.count, 'token')} now
          </small>
        )}
      </h3>
      <p>
        {changes.map((change, index) => (
          <Part key={index} change={change} />
        ))}
      </p>
      {tokens && (
        <div className={classes.tokens}>
          <TokenLine label="then" tokens={tokens.before} />
          <TokenLine label="now" tokens={tokens.after} />
        </div>
      )}
    </li>
  )
}

function Part({ change }: { change: ShownChange }) {
  if (change.kind === 'cut') return <small> … {countOf(change.characters, 'character')} … </small>
  const shown = revealHidden(change.text)
  if (change.kind === 'same') return <span>{shown}</span>
  return change.kind === 'added' ? <ins>{shown}</ins> : <del>{shown}</del>
}

/** The tokens of an answer one by one, with their log-probabilities at sampling. */
function TokenLine({ label, tokens: { count, first } }: { label: string; tokens: ShownTokens }) {
  return (
    <ol aria-label={`Tokens ${label}`} className={classes.tokenLine}>
      <li className={classes.tokenLabel}>{label}</li>
      {first.map(({ text, logprob }, index) => (
        <li key={index}>
          <code>{revealHidden(text)}</code> <small>{formatMetric(logprob)}</small>
        </li>
      ))}
      {count > first.length && <li>{formatCount(count - first.length)} more</li>}
    </ol>
  )
}
