import type { ReactNode } from 'react'
import controls from './controls.module.css'
import classes from './peek.module.css'

/** A list, and beside it what a person looks at, if there is something. */
export function WithPeek({ peek, children }: { peek: ReactNode; children: ReactNode }) {
  return (
    <div className={classes.split} data-peek={Boolean(peek)}>
      <div className={classes.list}>{children}</div>
      {peek}
    </div>
  )
}

interface PeekProps {
  /** What is looked at. */
  label: string
  id: string
  /** Leads to its own page. */
  link: ReactNode
  onClose: () => void
  children: ReactNode
}

/** One of a list beside it. Keys go on to the next one. */
export function Peek({ label, id, link, onClose, children }: PeekProps) {
  return (
    <aside className={classes.peek} aria-label={label} data-id={id}>
      <header>
        {link}
        <span className={classes.keys}>
          <kbd>j</kbd> <kbd>k</kbd> next, previous
        </span>
        <button type="button" className={controls.quiet} aria-label="Close" onClick={onClose}>
          ✕
        </button>
      </header>
      {children}
    </aside>
  )
}
