import { useEffect, useRef, useState, type FormEvent, type KeyboardEvent } from 'react'
import { useQuery } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { basePath } from '../data/base.ts'
import { idQuery } from '../data/find-id.ts'
import { apiQuery, wholeListQuery } from '../data/queries.ts'
import { rankDestinations, readId, type Destination } from '../logic/palette.ts'
import controls from '../parts/controls.module.css'
import { Dialog } from '../parts/dialog.tsx'
import classes from './palette.module.css'

interface PaletteProps {
  entity: string
  project: string | undefined
  onClose: () => void
}

const noDestinations: Destination[] = []

/** Goes to a page, a project or a run by its name, or to what a pasted id names. */
export function Palette({ entity, project, onClose }: PaletteProps) {
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(0)
  const { history } = useRouter()
  const field = useRef<HTMLInputElement>(null)
  // The dialog focuses its first button.
  useEffect(() => field.current!.focus(), [])
  const { destinations, isSearching } = useDestinations({ entity, project, text })
  const go = (destination: Destination | undefined) => {
    if (!destination) return
    onClose()
    history.push(basePath + destination.to)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    setChosen(Math.max(0, Math.min(destinations.length - 1, chosen + step)))
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    go(destinations[chosen])
  }
  return (
    <Dialog title="Go to" onClose={onClose}>
      <form onSubmit={submit}>
        <input
          ref={field}
          className={`${controls.input} ${classes.field}`}
          role="combobox"
          aria-label="A page, a run or an id"
          aria-expanded={destinations.length > 0}
          aria-controls="destinations"
          aria-activedescendant={destinations[chosen] && `destination-${chosen}`}
          placeholder="A page, a run, or paste any id"
          autoComplete="off"
          spellCheck={false}
          value={text}
          onKeyDown={onKeyDown}
          onInput={(event) => {
            setText(event.currentTarget.value)
            setChosen(0)
          }}
        />
      </form>
      <div id="destinations" role="listbox" aria-label="Places" className={classes.destinations}>
        {destinations.map((destination, index) => (
          <button
            key={destination.to}
            id={`destination-${index}`}
            type="button"
            role="option"
            aria-selected={index === chosen}
            tabIndex={-1}
            onClick={() => go(destination)}
          >
            <span>{destination.kind}</span> {destination.name}
          </button>
        ))}
      </div>
      {destinations.length === 0 && (
        <p role="status" className={classes.none}>
          {isSearching ? 'Looking it up …' : 'Nothing has this name or id.'}
        </p>
      )}
    </Dialog>
  )
}

function useDestinations({ entity, project, text }: { entity: string; project: string | undefined; text: string }) {
  const id = readId(text)
  const runs = useQuery({
    ...wholeListQuery(
      'GET /v1/preview/models',
      { query: { order: 'desc', ...(project !== undefined && { project }) } },
      500,
    ),
    select: ({ items }) => items.map((model) => runDestination(entity, model)),
  })
  const projects = useQuery({
    ...apiQuery('GET /v1/preview/projects', { query: { limit: 100 } }),
    select: ({ data }) => data.map(({ name }): Destination => ({ kind: 'project', name, to: `/${entity}/${name}` })),
  })
  const named = useQuery({
    ...idQuery(id ?? '', { entity, ...(project !== undefined && { project }) }),
    enabled: id !== undefined,
  })
  if (id !== undefined) return { destinations: named.data ?? noDestinations, isSearching: named.isPending }
  const all = [...pagesOf(entity, project), ...(runs.data ?? noDestinations), ...(projects.data ?? noDestinations)]
  return { destinations: rankDestinations(all, text), isSearching: runs.isPending }
}

function runDestination(entity: string, { name, project }: { name: string; project: string }): Destination {
  return { kind: 'run', name, to: `/${entity}/${project}/runs/${name}` }
}

function pagesOf(entity: string, project: string | undefined): Destination[] {
  const ofEntity: Destination[] = [
    { kind: 'page', name: 'Projects', to: '/' },
    { kind: 'page', name: 'Usage', to: `/${entity}/usage` },
    { kind: 'page', name: 'Settings', to: `/${entity}/settings/keys` },
  ]
  if (project === undefined) return ofEntity
  const home = `/${entity}/${project}`
  const pages = [
    ['Overview', home],
    ['Runs', `${home}/runs`],
    ['Traces', `${home}/weave/traces`],
    ['Data sets', `${home}/datasets`],
    ['Playground', `${home}/playground`],
  ] as const
  return [...pages.map(([name, to]): Destination => ({ kind: 'page', name, to })), ...ofEntity]
}
