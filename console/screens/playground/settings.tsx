import controls from '../../parts/controls.module.css'
import type { Draft } from './use-draft.ts'
import classes from './playground.module.css'

const numbers = [
  { name: 't', label: 'Temperature', low: 0, high: 2, step: 0.1 },
  { name: 'max', label: 'Max tokens', low: 1, high: 1_000_000, step: 1 },
  { name: 'seed', label: 'Seed', low: 0, high: Number.MAX_SAFE_INTEGER, step: 1 },
] as const

interface SettingsProps {
  draft: Draft
  onChange: (changes: Partial<Draft>) => void
  /** Whether the conversation has a system prompt of its own. */
  hasSystem: boolean
}

/** What all panes send. An empty number is left to the server. */
export function Settings({ draft, onChange, hasSystem }: SettingsProps) {
  return (
    <>
      <div className={classes.numbers}>
        {numbers.map(({ name, label, low, high, step }) => (
          <label key={name}>
            {label}
            <input
              className={controls.input}
              type="number"
              min={low}
              max={high}
              step={step}
              value={draft[name]}
              onInput={(event) => onChange({ [name]: event.currentTarget.value })}
            />
          </label>
        ))}
      </div>
      <label className={classes.prompt}>
        System prompt
        <textarea
          className={controls.input}
          rows={2}
          disabled={hasSystem}
          placeholder={hasSystem ? 'The conversation has its own' : 'None'}
          value={draft.system}
          onInput={(event) => onChange({ system: event.currentTarget.value })}
        />
      </label>
    </>
  )
}
