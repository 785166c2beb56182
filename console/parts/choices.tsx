import type { ReactNode } from 'react'
import classes from './choices.module.css'

export interface Choice {
  value: string
  isOn: boolean
  /** What is shown, if it is not the value. */
  label?: string
  /** What is known of it, such as a number. */
  note?: string
}

interface ChoicesProps {
  label: string
  choices: readonly Choice[]
  onToggle: (value: string) => void
  children?: ReactNode
}

/** Some of which any number is chosen. */
export function Choices({ label, choices, onToggle, children }: ChoicesProps) {
  return (
    <fieldset className={classes.choices} aria-label={label}>
      {choices.map(({ value, isOn, label: text = value, note }) => (
        <label key={value}>
          <input type="checkbox" checked={isOn} onChange={() => onToggle(value)} />
          <span title={value}>{text}</span>
          {note !== undefined && <small>{note}</small>}
        </label>
      ))}
      {children}
    </fieldset>
  )
}
