import type { FormEvent } from 'react'
import type { Answer } from '../../data/client.ts'
import { callStatuses } from '../../logic/calls.ts'
import { feedbackChoices, noFilters } from '../../logic/call-query.ts'
import { isFiltered, writeFilters } from '../../logic/call-search.ts'
import { formatCompact } from '../../logic/numbers.ts'
import { revealHidden } from '../../logic/chat.ts'
import { toggle } from '../../logic/search.ts'
import { Choices } from '../../parts/choices.tsx'
import controls from '../../parts/controls.module.css'
import { Popover } from '../../parts/popover.tsx'
import type { TracesState } from './use-traces.ts'
import classes from './traces.module.css'

type Statistics = Answer<'POST /v1/preview/projects/{project}/calls/statistics'>
type Counted = Statistics['ops']

interface FacetsProps {
  state: TracesState
  statistics: Statistics | undefined
}

/** What the table can be filtered by, with the numbers of calls. */
export function Facets({ state: { filters, search, change }, statistics }: FacetsProps) {
  const set = (changes: Partial<typeof filters>) =>
    change({ ...writeFilters({ ...filters, ...changes }), peek: undefined })
  return (
    <>
      <Facet id="ops" label="Op" values={statistics?.ops} chosen={filters.ops} onChange={(ops) => set({ ops })} />
      <Facet
        id="statuses"
        label="Status"
        values={statistics?.statuses}
        chosen={filters.statuses}
        onChange={(names) => set({ statuses: callStatuses.filter((status) => names.includes(status)) })}
      />
      <Facet
        id="models"
        label="Model"
        values={statistics?.models}
        chosen={filters.models}
        onChange={(models) => set({ models })}
      />
      <Facet
        id="threads"
        label="Thread"
        values={statistics?.threads}
        chosen={filters.threads}
        onChange={(threads) => set({ threads })}
      />
      <Numbers
        filters={filters}
        cost={search.cost}
        onChange={(changes, cost) => change({ ...writeFilters({ ...filters, ...changes }), cost, peek: undefined })}
      />
      <FeedbackChoice filters={filters} onChange={set} />
    </>
  )
}

function Facet({
  id,
  label,
  values,
  chosen,
  onChange,
}: {
  id: string
  label: string
  values: Counted | undefined
  chosen: readonly string[]
  onChange: (chosen: string[]) => void
}) {
  const others = chosen.filter((name) => !values?.some(({ value }) => value === name))
  const all = [...(values ?? []), ...others.map((value) => ({ value, calls: 0 }))]
  return (
    <Popover id={id} label={chosen.length > 0 ? `${label} · ${chosen.length}` : label} isSet={chosen.length > 0}>
      <Choices
        label={label}
        choices={all.map(({ value, calls }) => ({
          value,
          isOn: chosen.includes(value),
          label: revealHidden(value.replaceAll('_', ' ')),
          note: formatCompact(calls),
        }))}
        onToggle={(value) => onChange(toggle(chosen, value))}
      >
        {all.length === 0 && <span className={classes.dim}>None here</span>}
      </Choices>
    </Popover>
  )
}

type Filters = TracesState['filters']

interface FormProps {
  filters: Filters
  onChange: (changes: Partial<Filters>) => void
}

const bounds = [
  ['minTokens', 'Tokens at least'],
  ['minLatencyMs', 'Milliseconds at least'],
  ['maxLatencyMs', 'Milliseconds below'],
] as const

function Numbers({
  filters,
  cost,
  onChange,
}: {
  filters: Filters
  cost: string | undefined
  onChange: (changes: Partial<Filters>, cost: string | undefined) => void
}) {
  const isSet = cost !== undefined || bounds.some(([name]) => filters[name] !== undefined)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const values = new FormData(event.currentTarget)
    const read = (name: string) => (values.get(name) === '' ? undefined : Number(values.get(name)))
    onChange(Object.fromEntries(bounds.map(([name]) => [name, read(name)])), read('cost')?.toString())
  }
  return (
    <Popover id="numbers" label="Size, time, cost" isSet={isSet}>
      <form className={classes.form} onSubmit={submit}>
        {bounds.map(([name, label]) => (
          <label key={name}>
            {label}
            <input
              className={controls.input}
              type="number"
              min={0}
              name={name}
              defaultValue={filters[name]?.toString() ?? ''}
            />
          </label>
        ))}
        <label>
          Cost at least
          <input className={controls.input} type="number" min={0} step="any" name="cost" defaultValue={cost ?? ''} />
        </label>
        <button type="submit" className={controls.button}>
          Apply
        </button>
      </form>
    </Popover>
  )
}

function FeedbackChoice({ filters, onChange }: FormProps) {
  return (
    <label>
      <select
        aria-label="Feedback"
        className={controls.select}
        value={filters.feedback ?? ''}
        onChange={(event) =>
          onChange({ feedback: feedbackChoices.find((choice) => choice === event.currentTarget.value) })
        }
      >
        <option value="">Feedback</option>
        {feedbackChoices.map((choice) => (
          <option key={choice}>{choice}</option>
        ))}
      </select>
    </label>
  )
}

/** What is set and has no control of its own: each can be taken off. */
export function SetFilters({ state }: { state: TracesState }) {
  const { filters, change } = state
  const set = (changes: Partial<Filters>) => change({ ...writeFilters({ ...filters, ...changes }), peek: undefined })
  if (!isFiltered(filters)) return null
  const without = (name: string) =>
    Object.fromEntries(Object.entries(filters.otherFilter).filter(([key]) => key !== name))
  return (
    <div className={classes.chips}>
      {Object.entries(filters.otherFilter).map(([name, values]) => (
        <button key={name} type="button" onClick={() => set({ otherFilter: without(name) })}>
          {name.replaceAll('_', ' ')}: {values.length === 1 ? values[0]!.slice(0, 60) : values.length} ✕
        </button>
      ))}
      {filters.others.map((condition, index) => (
        <button
          key={index}
          type="button"
          title={JSON.stringify(condition)}
          onClick={() => set({ others: filters.others.filter((each) => each !== condition) })}
        >
          a condition ✕
        </button>
      ))}
      <ClearFilters state={state} />
    </div>
  )
}

export function ClearFilters({ state: { filters, change }, className }: { state: TracesState; className?: string }) {
  const none = writeFilters({ ...noFilters, rootsOnly: filters.rootsOnly })
  return (
    <button
      type="button"
      className={className}
      onClick={() => change({ ...none, cost: undefined, view: undefined, peek: undefined })}
    >
      Clear all filters ✕
    </button>
  )
}
