import { useMemo, useState, type CSSProperties, type KeyboardEvent } from 'react'
import { revealHidden, type Turn } from '../logic/chat.ts'
import { signOf, type MeasuredToken, type Scale } from '../logic/overlays.ts'
import { Chip } from './badges.tsx'
import classes from './conversation.module.css'

/** How the sampled tokens of a conversation are coloured. */
export interface Overlay {
  /** The tokens of each turn. */
  turns: readonly (readonly MeasuredToken[] | undefined)[]
  scale: Scale
  /** Is told the token under the pointer, or the one that the arrow keys have reached. */
  onPick: (token: MeasuredToken) => void
}

// Larger texts are shown in part: a browser lays out a text of this length in a few milliseconds.
const maxCharacters = 100_000

interface ConversationProps {
  turns: readonly Turn[]
  overlay?: Overlay | undefined
  /** What is shown instead of no turn. */
  empty?: string | undefined
}

/** A conversation as turns. All of it was written by models and strangers, so it is text and never HTML. */
export function Conversation({ turns, overlay, empty }: ConversationProps) {
  if (turns.length === 0 && empty !== undefined) return <p role="status">{empty}</p>
  return (
    <ol className={classes.conversation}>
      {turns.map((turn, index) => (
        <li key={index} className={classes.turn} data-sampled={turn.isSampled}>
          {turn.history !== undefined && turn.history !== turns[index - 1]?.history && (
            <p className={classes.history}>History {turn.history + 1}</p>
          )}
          <header>
            <h2>{revealHidden(turn.role)}</h2>
            {turn.finish !== undefined && turn.finish !== 'stop' && <Chip>{`ended: ${turn.finish}`}</Chip>}
            {turn.tokens && <span>{turn.tokens.length} tokens</span>}
          </header>
          {turn.reasoning !== undefined && turn.reasoning !== '' && (
            <details className={classes.reasoning}>
              <summary>Reasoning</summary>
              <Text text={turn.reasoning} />
            </details>
          )}
          <Content turn={turn} tokens={overlay?.turns[index]} overlay={overlay} />
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

interface ContentProps {
  turn: Turn
  tokens: readonly MeasuredToken[] | undefined
  overlay: Overlay | undefined
}

function Content({ turn: { text, toolCalls, role }, tokens, overlay }: ContentProps) {
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

const keySteps: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1 }

/** The tokens of an answer. It has one place in the order of the tab key; the arrow keys go from token to token. */
function Tokens({ tokens, overlay: { scale, onPick } }: { tokens: readonly MeasuredToken[]; overlay: Overlay }) {
  const [active, setActive] = useState<number>()
  const pick = (index: number | undefined) => {
    const token = tokens[index ?? -1]
    if (token) onPick(token)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = keySteps[event.key]
    if (step === undefined || event.altKey || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    const next = Math.max(0, Math.min(tokens.length - 1, active === undefined ? 0 : active + step))
    setActive(next)
    pick(next)
  }
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- the arrow keys choose a token
    <p
      className={classes.text}
      role="group"
      aria-label="Tokens; arrow keys choose one"
      tabIndex={0}
      onKeyDown={onKeyDown}
      onFocus={() => pick(active ?? 0)}
      onBlur={() => setActive(undefined)}
      onMouseOver={({ target }) => pick(indexOf(target))}
    >
      {tokens.map((token, index) => {
        const shade = Math.max(-1, Math.min(1, scale.shade(token)))
        const style = { '--strength': `${Math.round(Math.abs(shade) * 60)}%` } as CSSProperties
        return (
          <span
            key={index}
            className={classes.token}
            data-index={index}
            data-active={index === active}
            data-sign={Math.sign(shade)}
            data-glyph={signOf(shade)}
            style={style}
          >
            {revealHidden(token.token.text)}
          </span>
        )
      })}
    </p>
  )
}

function indexOf(target: EventTarget): number | undefined {
  const text = target instanceof HTMLElement ? target.dataset['index'] : undefined
  return text === undefined ? undefined : Number(text)
}
