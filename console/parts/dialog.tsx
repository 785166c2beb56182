import { useEffect, useRef, type ReactNode } from 'react'
import type { UseMutationResult } from '@tanstack/react-query'
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

interface ActionFormProps {
  title: string
  /** What happens when the form is sent. */
  action: Pick<UseMutationResult<unknown, Error, void>, 'mutate' | 'isPending' | 'error'>
  /** What its button says. */
  label: string
  tone?: 'primary' | 'danger'
  /** Whether what is filled in is enough. */
  isReady?: boolean
  onClose: () => void
  children: ReactNode
}

/** A question whose answer changes something. It says what went wrong. */
export function ActionForm({
  title,
  action,
  label,
  tone = 'primary',
  isReady = true,
  onClose,
  children,
}: ActionFormProps) {
  return (
    <Dialog title={title} onClose={onClose} error={action.error}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (isReady) action.mutate()
        }}
      >
        {children}
        <button type="submit" className={controls[tone]} disabled={!isReady || action.isPending}>
          {label}
        </button>
      </form>
    </Dialog>
  )
}

interface TextFieldProps {
  label: string
  value: string
  maxLength?: number
  type?: 'text' | 'url'
  placeholder?: string
  /** Whether an empty text is one. */
  isOptional?: boolean
  onChange: (value: string) => void
}

/** A line of text in a form. */
export function TextField({ label, isOptional = false, onChange, ...input }: TextFieldProps) {
  return (
    <label>
      {label}
      <input
        className={controls.input}
        required={!isOptional}
        autoComplete="off"
        {...input}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    </label>
  )
}
