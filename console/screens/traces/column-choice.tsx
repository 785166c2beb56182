import { useMemo } from 'react'
import { useQuery } from '@tanstack/react-query'
import { sampleQuery } from '../../data/calls.ts'
import { listPaths, type Call } from '../../logic/calls.ts'
import { callColumns } from '../../logic/call-search.ts'
import { toggle, writeList } from '../../logic/search.ts'
import { Choices } from '../../parts/choices.tsx'
import controls from '../../parts/controls.module.css'
import { Popover } from '../../parts/popover.tsx'
import type { TracesState } from './use-traces.ts'

/** Which columns are shown. The address names the hidden ones with a minus, and the paths that were added. */
export function ColumnChoice({ state, calls }: { state: TracesState; calls: readonly Call[] }) {
  const { paths, hidden, change } = state
  // One page with its payloads shows which paths there are. It is read when a person looks for one.
  const sample = useQuery({ ...sampleQuery(state.body), enabled: false })
  const known = useMemo(() => listPaths(sample.data ?? calls), [sample.data, calls])
  const set = (nextHidden: readonly string[], nextPaths: readonly string[]) =>
    change({ cols: writeList([...nextHidden.map((name) => `-${name}`), ...nextPaths]) })
  const all = [...new Set([...paths, ...known])].slice(0, 100)
  const own = callColumns.slice(1).map((value) => ({ value, isOn: !hidden.includes(value) }))
  const added = all.map((value) => ({ value, isOn: paths.includes(value) }))
  const onToggle = (name: string) =>
    own.some(({ value }) => value === name) ? set(toggle(hidden, name), paths) : set(hidden, toggle(paths, name))
  return (
    <Popover id="columns" label="Columns" isSet={hidden.length + paths.length > 0}>
      <Choices label="Columns" choices={[...own, ...added]} onToggle={onToggle}>
        {!sample.data && (
          <button type="button" className={controls.button} onClick={() => void sample.refetch()}>
            {sample.isFetching ? 'Reading…' : 'Find attributes'}
          </button>
        )}
      </Choices>
    </Popover>
  )
}
