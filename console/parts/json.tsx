import { useState, type ReactNode } from 'react'
import { revealHidden } from '../logic/chat.ts'
import { countOf } from '../logic/numbers.ts'
import classes from './json.module.css'

interface JsonProps {
  value: unknown
  /** How a text is shown that is more than a text, such as a reference. */
  renderText?: ((text: string) => ReactNode) | undefined
}

// What is deeper, or comes later, is made when a person asks for it.
const openLevels = 2
const maxShown = 100

/** A value of JSON as a tree. Only what is open is in the page. */
export function Json({ value, renderText }: JsonProps) {
  return (
    <div className={classes.json}>
      <Value value={value} level={0} renderText={renderText} />
    </div>
  )
}

interface ValueProps extends JsonProps {
  name?: string
  level: number
}

function Value({ name, value, level, renderText }: ValueProps) {
  const label = name !== undefined && <span className={classes.name}>{revealHidden(name)}: </span>
  if (typeof value === 'string') {
    const special = renderText?.(value)
    return (
      <>
        {label}
        {special ?? <span className={classes.text}>{value === '' ? '""' : revealHidden(value)}</span>}
      </>
    )
  }
  if (typeof value !== 'object' || value === null) {
    return (
      <>
        {label}
        <span className={classes.value}>{String(value)}</span>
      </>
    )
  }
  return <Branch label={label} value={value} level={level} renderText={renderText} />
}

function Branch({
  label,
  value,
  level,
  renderText,
}: {
  label: ReactNode
  value: object
  level: number
  renderText: JsonProps['renderText']
}) {
  const [isOpen, setOpen] = useState(level < openLevels)
  const [shown, setShown] = useState(maxShown)
  const members = Object.entries(value)
  const kind = Array.isArray(value) ? `[${countOf(members.length, 'item')}]` : `{${countOf(members.length, 'member')}}`
  if (members.length === 0) {
    return (
      <>
        {label}
        <span className={classes.kind}>{Array.isArray(value) ? '[]' : '{}'}</span>
      </>
    )
  }
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {label}
        <span className={classes.kind}>{kind}</span>
      </summary>
      {isOpen && (
        <ul>
          {members.slice(0, shown).map(([key, member]) => (
            <li key={key}>
              <Value name={key} value={member} level={level + 1} renderText={renderText} />
            </li>
          ))}
          {members.length > shown && (
            <li>
              <button type="button" className={classes.more} onClick={() => setShown(shown + 10 * maxShown)}>
                {members.length - shown} more
              </button>
            </li>
          )}
        </ul>
      )}
    </details>
  )
}
