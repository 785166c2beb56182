import { useMemo } from 'react'
import { useQuery } from '@tanstack/react-query'
import { sampleQuery } from '../../data/calls.ts'
import { listPaths, type Call } from '../../logic/calls.ts'
import { callColumns } from '../../logic/call-search.ts'
import { toggle, writeList } from '../../logic/search.ts'
import controls from '../../parts/controls.module.css'
import { Popover } from '../../parts/popover.tsx'
import type { TracesState } from './use-traces.ts'
import classes from './traces.module.css'

/** Which columns are shown. The address names the hidden ones with a minus, and the paths that were added. */
export function ColumnChoice({ state, calls }: { state: TracesState; calls: readonly Call[] }) {
  const { paths, hidden, projectId, change } = state
  // One page with its payloads shows which paths there are. It is read when a person looks for one.
  const sample = useQuery({ ...sampleQuery(state.body), enabled: false })
  const known = useMemo(() => listPaths(sample.data ?? calls), [sample.data, calls])
  const set = (nextHidden: readonly string[], nextPaths: readonly string[]) =>
    change({ cols: writeList([...nextHidden.map((name) => `-${name}`), ...nextPaths]) })
  const all = [...new Set([...paths, ...known])].slice(0, 100)
  return (
    <Popover id="columns" label="Columns" isSet={hidden.length + paths.length > 0}>
      <fieldset className={classes.choices} aria-label="Columns" data-project={projectId}>
        {callColumns.slice(1).map((name) => (
          <label key={name}>
            <input type="checkbox" checked={!hidden.includes(name)} onChange={() => set(toggle(hidden, name), paths)} />
            <span>{name}</span>
          </label>
        ))}
        {all.map((path) => (
          <label key={path}>
            <input type="checkbox" checked={paths.includes(path)} onChange={() => set(hidden, toggle(paths, path))} />
            <span title={path}>{path}</span>
          </label>
        ))}
        {!sample.data && (
          <button type="button" className={controls.button} onClick={() => void sample.refetch()}>
            {sample.isFetching ? 'Reading…' : 'Find attributes'}
          </button>
        )}
      </fieldset>
    </Popover>
  )
}
