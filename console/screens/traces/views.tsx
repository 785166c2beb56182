import { useEffect, useState, type FormEvent } from 'react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { sessionQuery } from '../../data/session.ts'
import { deleteView, saveView, viewsQuery } from '../../data/views.ts'
import { callSearchNames } from '../../logic/call-search.ts'
import { nameView, readView, writeView, type SavedView } from '../../logic/saved-view.ts'
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
  const current = views.data?.find(({ name }) => name === search.view)
  return (
    <Popover
      id="views"
      label={search.view === undefined ? 'Views' : `View ${current?.label ?? search.view}`}
      isSet={search.view !== undefined}
    >
      <ul className={classes.views}>
        {views.data?.length === 0 && <li className={classes.dim}>No saved view yet</li>}
        {views.data?.map((view) => (
          <ViewItem
            key={view.name}
            projectId={projectId}
            view={view}
            labels={views.data.map(({ label }) => label)}
            isReader={session?.role === 'read'}
            onOpen={() => open(view)}
          />
        ))}
        {session?.role !== 'read' && (
          <li>
            <SaveView state={state} views={views.data ?? []} />
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

interface ViewItemProps {
  projectId: string
  view: SavedView
  /** Those of all views: each has its own. */
  labels: readonly string[]
  isReader: boolean
  onOpen: () => void
}

function ViewItem({ projectId, view, labels, isReader, onOpen }: ViewItemProps) {
  const [isRenamed, setRenamed] = useState(false)
  const queries = useQueryClient()
  if (isRenamed) {
    const rename = async (label: string) => {
      if (label !== view.label && labels.includes(label)) throw new Error('Another view has this name.')
      await saveView(projectId, { ...view, label })
      await queries.invalidateQueries(viewsQuery(projectId))
      setRenamed(false)
    }
    return (
      <li>
        <NameForm name={view.label} label={`New name of the view ${view.label}`} action="Rename" onSend={rename} />
      </li>
    )
  }
  return (
    <li>
      <button type="button" onClick={onOpen}>
        {view.label}
      </button>
      {!isReader && (
        <>
          <button
            type="button"
            className={controls.quiet}
            aria-label={`Rename the view ${view.label}`}
            onClick={() => setRenamed(true)}
          >
            ✎
          </button>
          <DeleteView projectId={projectId} view={view} />
        </>
      )}
    </li>
  )
}

function SaveView({ state, views }: { state: TracesState; views: readonly SavedView[] }) {
  const queries = useQueryClient()
  const { projectId, filters, order, paths, hidden } = state
  const save = async (label: string) => {
    const name = nameView(label, views)
    await saveView(projectId, { name, label, definition: writeView({ filters, order, paths, hidden }, projectId) })
    await queries.invalidateQueries(viewsQuery(projectId))
    state.change({ view: name })
  }
  return <NameForm label="Name of the view" placeholder="Save this view as" action="Save" onSend={save} />
}

interface NameFormProps {
  name?: string
  label: string
  placeholder?: string
  action: string
  onSend: (name: string) => Promise<void>
}

/** A line for the name of a view. */
function NameForm({ name = '', label, placeholder, action, onSend }: NameFormProps) {
  const [text, setText] = useState(name)
  const sending = useMutation({ mutationFn: onSend, onSuccess: () => setText(name) })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (text.trim() !== '') sending.mutate(text.trim())
  }
  return (
    <form onSubmit={submit}>
      <input
        className={controls.input}
        required
        maxLength={100}
        aria-label={label}
        placeholder={placeholder}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button type="submit" className={controls.button} disabled={sending.isPending}>
        {action}
      </button>
      {sending.error && <span role="alert">{sending.error.message}</span>}
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
