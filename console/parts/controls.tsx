import { useEffect, useState } from 'react'
import controls from './controls.module.css'

/** Some choices of which one is taken. */
export function Segments<T extends string>({
  label,
  choices,
  value,
  onChoose,
}: {
  label: string
  choices: readonly T[]
  value: T
  onChoose: (choice: T) => void
}) {
  return (
    <div className={controls.segments} role="group" aria-label={label}>
      {choices.map((choice) => (
        <button key={choice} type="button" aria-pressed={choice === value} onClick={() => onChoose(choice)}>
          {choice}
        </button>
      ))}
    </div>
  )
}

/** A field whose text filters a list. The address follows when a person pauses. */
export function FilterField({
  label,
  value,
  onChange,
}: {
  label: string
  value: string | undefined
  onChange: (value: string | undefined) => void
}) {
  const [text, setText] = useState(value ?? '')
  useEffect(() => setText(value ?? ''), [value])
  useEffect(() => {
    if (text === (value ?? '')) return undefined
    const timer = setTimeout(() => onChange(text === '' ? undefined : text), 150)
    return () => clearTimeout(timer)
  }, [text, value, onChange])
  return (
    <input
      className={controls.input}
      type="search"
      aria-label={label}
      placeholder={`${label}  /`}
      data-filter
      value={text}
      onInput={(event) => setText(event.currentTarget.value)}
    />
  )
}
