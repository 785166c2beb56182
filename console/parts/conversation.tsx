import { useMemo, type CSSProperties } from 'react'
import { revealHidden, type Token, type Turn } from '../logic/chat.ts'
import { Chip } from './badges.tsx'
import classes from './conversation.module.css'

/** How a token is coloured: from -1 (orange) over 0 (no colour) to 1 (blue). */
export interface Overlay {
  strength: (token: Token) => number
  explain: (token: Token) => string
}

// Larger texts are shown in part: a browser lays out a text of this length in a few milliseconds.
const maxCharacters = 100_000

/** A conversation as turns. All of it was written by models and strangers, so it is text and never HTML. */
export function Conversation({ turns, overlay }: { turns: readonly Turn[]; overlay?: Overlay | undefined }) {
  return (
    <ol className={classes.conversation}>
      {turns.map((turn, index) => (
        <li key={index} className={classes.turn} data-sampled={turn.isSampled}>
          <header>
            <h3>{revealHidden(turn.role)}</h3>
            {turn.finish !== undefined && turn.finish !== 'stop' && <Chip>{`ended: ${turn.finish}`}</Chip>}
            {turn.tokens && <span>{turn.tokens.length} tokens</span>}
          </header>
          {turn.reasoning !== undefined && turn.reasoning !== '' && (
            <details className={classes.reasoning}>
              <summary>Reasoning</summary>
              <Text text={turn.reasoning} />
            </details>
          )}
          <Content turn={turn} overlay={overlay} />
          {turn.toolCalls.map(({ name, arguments: given }, at) => (
            <div key={at} className={classes.tool}>
              <b>{revealHidden(name)}</b>
              <pre>{revealHidden(given)}</pre>
            </div>
          ))}
        </li>
      ))}
    </ol>
  )
}

function Content({ turn: { text, tokens, toolCalls, role }, overlay }: { turn: Turn; overlay: Overlay | undefined }) {
  if (tokens && overlay) return <Tokens tokens={tokens} overlay={overlay} />
  if (text === '' && toolCalls.length > 0) return null
  if (role === 'tool') {
    return (
      <details className={classes.result} open={text.length < 600}>
        <summary>Result</summary>
        <Text text={text} />
      </details>
    )
  }
  return <Text text={text} />
}

function Text({ text }: { text: string }) {
  const shown = useMemo(() => revealHidden(text.slice(0, maxCharacters)), [text])
  return (
    <p className={classes.text}>
      {shown === '' ? <i>empty</i> : shown}
      {text.length > maxCharacters && <em> … {text.length - maxCharacters} more characters</em>}
    </p>
  )
}

function Tokens({ tokens, overlay }: { tokens: readonly Token[]; overlay: Overlay }) {
  return (
    <p className={classes.text}>
      {tokens.map((token, index) => {
        const strength = Math.max(-1, Math.min(1, overlay.strength(token)))
        const style = { '--strength': `${Math.round(Math.abs(strength) * 60)}%` } as CSSProperties
        return (
          <span
            key={index}
            className={classes.token}
            data-sign={Math.sign(strength)}
            style={style}
            title={overlay.explain(token)}
          >
            {revealHidden(token.text)}
          </span>
        )
      })}
    </p>
  )
}
