import { useEffect, useRef, useState, type FormEvent, type KeyboardEvent } from 'react'
import { useQuery } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { basePath } from '../data/base.ts'
import { idQuery } from '../data/find-id.ts'
import { apiQuery, wholeListQuery } from '../data/queries.ts'
import { rankPlaces, readId, type Place } from '../logic/palette.ts'
import controls from '../parts/controls.module.css'
import { Dialog } from '../parts/dialog.tsx'
import classes from './palette.module.css'

interface PaletteProps {
  entity: string
  project: string | undefined
  onClose: () => void
}

const noPlaces: Place[] = []

/** Goes to a page, a project or a run by its name, or to what a pasted id names. */
export function Palette({ entity, project, onClose }: PaletteProps) {
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(0)
  const { history } = useRouter()
  const field = useRef<HTMLInputElement>(null)
  // The dialog focuses its first button.
  useEffect(() => field.current!.focus(), [])
  const { places, isSearching } = usePlaces({ entity, project, text })
  const go = (place: Place | undefined) => {
    if (!place) return
    onClose()
    history.push(basePath + place.to)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    setChosen(Math.max(0, Math.min(places.length - 1, chosen + step)))
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    go(places[chosen])
  }
  return (
    <Dialog title="Go to" onClose={onClose}>
      <form onSubmit={submit}>
        <input
          ref={field}
          className={`${controls.input} ${classes.field}`}
          role="combobox"
          aria-label="A page, a run or an id"
          aria-expanded={places.length > 0}
          aria-controls="places"
          aria-activedescendant={places[chosen] && `place-${chosen}`}
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
      <div id="places" role="listbox" aria-label="Places" className={classes.places}>
        {places.map((place, index) => (
          <button
            key={place.to}
            id={`place-${index}`}
            type="button"
            role="option"
            aria-selected={index === chosen}
            tabIndex={-1}
            onClick={() => go(place)}
          >
            <span>{place.kind}</span> {place.name}
          </button>
        ))}
      </div>
      {places.length === 0 && (
        <p role="status" className={classes.none}>
          {isSearching ? 'Looking it up …' : 'Nothing has this name or id.'}
        </p>
      )}
    </Dialog>
  )
}

function usePlaces({ entity, project, text }: { entity: string; project: string | undefined; text: string }) {
  const id = readId(text)
  const runs = useQuery({
    ...wholeListQuery(
      'GET /v1/preview/models',
      { query: { order: 'desc', ...(project !== undefined && { project }) } },
      500,
    ),
    select: ({ items }) => items.map((model) => runPlace(entity, model)),
  })
  const projects = useQuery({
    ...apiQuery('GET /v1/preview/projects', { query: { limit: 100 } }),
    select: ({ data }) => data.map(({ name }): Place => ({ kind: 'project', name, to: `/${entity}/${name}` })),
  })
  const named = useQuery({
    ...idQuery(id ?? '', { entity, ...(project !== undefined && { project }) }),
    enabled: id !== undefined,
  })
  if (id !== undefined) return { places: named.data ?? noPlaces, isSearching: named.isPending }
  const all = [...pagesOf(entity, project), ...(runs.data ?? noPlaces), ...(projects.data ?? noPlaces)]
  return { places: rankPlaces(all, text), isSearching: runs.isPending }
}

function runPlace(entity: string, { name, project }: { name: string; project: string }): Place {
  return { kind: 'run', name, to: `/${entity}/${project}/runs/${name}` }
}

function pagesOf(entity: string, project: string | undefined): Place[] {
  const ofEntity: Place[] = [
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
  return [...pages.map(([name, to]): Place => ({ kind: 'page', name, to })), ...ofEntity]
}
