import { useEffect, useRef, type ReactNode } from 'react'
import controls from './controls.module.css'
import classes from './dialog.module.css'

interface DialogProps {
  title: string
  onClose: () => void
  error?: Error | null
  children: ReactNode
}

/** A question above the page. Escape and its button close it, and the focus goes back. */
export function Dialog({ title, onClose, error, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const before = document.activeElement
    dialog.current!.showModal()
    return () => {
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  return (
    <dialog ref={dialog} className={classes.dialog} aria-label={title} onClose={onClose}>
      <header>
        <h2>{title}</h2>
        <button type="button" className={controls.quiet} aria-label="Close" onClick={onClose}>
          ✕
        </button>
      </header>
      {children}
      {error && (
        <p role="alert" className={classes.fault}>
          {error.message}
        </p>
      )}
    </dialog>
  )
}
