import { useEffect, useState } from 'react'
import controls from '../../parts/controls.module.css'
import { useKey } from '../../parts/use-key.ts'
import classes from './trajectories.module.css'

interface StepSliderProps {
  step: number
  last: number
  onChange: (step: number) => void
}

/** Chooses a step. The keys `[` and `]` go one step back and on. */
export function StepSlider({ step, last, onChange }: StepSliderProps) {
  const most = Math.max(last, step)
  const [drawn, setDrawn] = useState(step)
  useEffect(() => setDrawn(step), [step])
  // While a person drags, only the number follows.
  useEffect(() => {
    if (drawn === step) return undefined
    const timer = setTimeout(() => onChange(drawn), 120)
    return () => clearTimeout(timer)
  })
  useKey('stepBack', () => onChange(step - 1), step > 0)
  useKey('stepOn', () => onChange(step + 1), step < most)
  return (
    <div className={classes.slider}>
      <label htmlFor="step">Step</label>
      <button
        type="button"
        className={controls.quiet}
        aria-label="Previous step"
        disabled={step <= 0}
        onClick={() => onChange(step - 1)}
      >
        ‹
      </button>
      <input
        id="step"
        type="range"
        min={0}
        max={most}
        value={drawn}
        onInput={(event) => setDrawn(Number(event.currentTarget.value))}
      />
      <button
        type="button"
        className={controls.quiet}
        aria-label="Next step"
        disabled={step >= most}
        onClick={() => onChange(step + 1)}
      >
        ›
      </button>
      <output htmlFor="step">
        {drawn} of {most}
      </output>
    </div>
  )
}
