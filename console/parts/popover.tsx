import type { ReactNode } from 'react'
import controls from './controls.module.css'
import classes from './popover.module.css'

/** A button that shows more below it. The browser closes it, and gives the focus back. */
export function Popover({
  id,
  label,
  isSet = false,
  children,
}: {
  id: string
  label: ReactNode
  /** Whether what is in it has been changed. */
  isSet?: boolean
  children: ReactNode
}) {
  return (
    <>
      <button
        type="button"
        className={controls.button}
        data-set={isSet}
        popoverTarget={id}
        style={{ anchorName: `--${id}` }}
      >
        {label} <span aria-hidden="true">▾</span>
      </button>
      <div id={id} popover="auto" className={classes.popover} style={{ positionAnchor: `--${id}` }}>
        {children}
      </div>
    </>
  )
}
