import { useEffect, useState, type FormEvent } from 'react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { sessionQuery } from '../../data/session.ts'
import { deleteView, saveView, viewsQuery } from '../../data/views.ts'
import { callSearchNames } from '../../logic/call-search.ts'
import { readView, writeView, type SavedView } from '../../logic/saved-view.ts'
import controls from '../../parts/controls.module.css'
import { Popover } from '../../parts/popover.tsx'
import type { TracesState } from './use-traces.ts'
import classes from './traces.module.css'

/** The saved views of a project. They are weave's own objects, so that its clients can make and read them too. */
export function Views({ state }: { state: TracesState }) {
  const { projectId, search } = state
  const { data: session } = useQuery(sessionQuery)
  const views = useQuery(viewsQuery(projectId))
  const open = ({ name, definition }: SavedView) => {
    const nothing = Object.fromEntries(callSearchNames.map((key) => [key, undefined]))
    state.change({ ...nothing, ...readView(definition), view: name })
  }
  useNamedView(state, views.data, open)
  return (
    <Popover
      id="views"
      label={search.view === undefined ? 'Views' : `View ${search.view}`}
      isSet={search.view !== undefined}
    >
      <ul className={classes.views}>
        {views.data?.length === 0 && <li className={classes.dim}>No saved view yet</li>}
        {views.data?.map((view) => (
          <li key={view.name}>
            <button type="button" onClick={() => open(view)}>
              {view.label}
            </button>
            {session?.role !== 'read' && <DeleteView projectId={projectId} view={view} />}
          </li>
        ))}
        {session?.role !== 'read' && (
          <li>
            <SaveView state={state} />
          </li>
        )}
      </ul>
    </Popover>
  )
}

/** An address with nothing but the name of a view shows that view. */
function useNamedView(
  { search }: TracesState,
  views: readonly SavedView[] | undefined,
  open: (view: SavedView) => void,
): void {
  const isAlone = Object.entries(search).every(
    ([name, value]) => value === undefined || ['view', 'peek', 'tab'].includes(name),
  )
  const named = isAlone ? views?.find(({ name }) => name === search.view) : undefined
  useEffect(() => {
    if (named && Object.values(readView(named.definition)).some((value) => value !== undefined)) open(named)
  })
}

function SaveView({ state }: { state: TracesState }) {
  const queries = useQueryClient()
  const [label, setLabel] = useState('')
  const { projectId, filters, order, paths, hidden } = state
  const saving = useMutation({
    mutationFn: () => saveView(projectId, label, writeView({ filters, order, paths, hidden }, projectId)),
    onSuccess: async (name) => {
      setLabel('')
      await queries.invalidateQueries(viewsQuery(projectId))
      state.change({ view: name })
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    saving.mutate()
  }
  return (
    <form onSubmit={submit}>
      <input
        className={controls.input}
        required
        maxLength={100}
        aria-label="Name of the view"
        placeholder="Save this view as"
        value={label}
        onInput={(event) => setLabel(event.currentTarget.value)}
      />
      <button type="submit" className={controls.button} disabled={saving.isPending}>
        Save
      </button>
      {saving.error && <span role="alert">{saving.error.message}</span>}
    </form>
  )
}

function DeleteView({ projectId, view }: { projectId: string; view: SavedView }) {
  const queries = useQueryClient()
  const deleting = useMutation({
    mutationFn: () => deleteView(projectId, view.name),
    onSuccess: () => queries.invalidateQueries(viewsQuery(projectId)),
  })
  return (
    <button
      type="button"
      className={controls.quiet}
      aria-label={`Delete the view ${view.label}`}
      disabled={deleting.isPending}
      onClick={() => deleting.mutate()}
    >
      ✕
    </button>
  )
}
