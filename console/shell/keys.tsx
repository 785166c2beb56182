import { lazy, Suspense, useState } from 'react'
import { useNavigate } from '@tanstack/react-router'
import { useKey } from '../parts/use-key.ts'
import classes from './shell.module.css'

const Palette = lazy(async () => ({ default: (await import('./palette.tsx')).Palette }))
const KeyHelp = lazy(async () => ({ default: (await import('./key-help.tsx')).KeyHelp }))

/** The keys that work on every screen, and what they open. */
export function Keys({ entity, project }: { entity: string; project: string | undefined }) {
  const [open, setOpen] = useState<'palette' | 'help'>()
  const [copied, setCopied] = useState<string>()
  const navigate = useNavigate()
  const inProject = project !== undefined
  const params = { entity, project: project ?? '' }
  useKey('palette', () => setOpen('palette'))
  useKey('help', () => setOpen('help'))
  useKey('filter', () => document.querySelector<HTMLInputElement>('[data-filter]')?.focus())
  useKey('copy', () => void copyId().then(setCopied))
  useKey('projects', () => void navigate({ to: '/' }))
  useKey('overview', () => void navigate({ to: '/$entity/$project', params }), inProject)
  useKey('runs', () => void navigate({ to: '/$entity/$project/runs', params }), inProject)
  useKey('traces', () => void navigate({ to: '/$entity/$project/weave/traces', params }), inProject)
  useKey('dataSets', () => void navigate({ to: '/$entity/$project/datasets', params }), inProject)
  useKey('playground', () => void navigate({ to: '/$entity/$project/playground', params }), inProject)
  // The end of one may be told when the other is already open.
  const close = (which: typeof open) => () => setOpen((now) => (now === which ? undefined : now))
  return (
    <>
      <p role="status" className={classes.copied}>
        {copied !== undefined && `Copied ${copied}`}
      </p>
      <Suspense fallback={null}>
        {open === 'palette' && <Palette entity={entity} project={project} onClose={close('palette')} />}
        {open === 'help' && <KeyHelp onClose={close('help')} />}
      </Suspense>
    </>
  )
}

/** Copies the id of what is shown: of what is beside a list first. */
async function copyId(): Promise<string | undefined> {
  const id = [...document.querySelectorAll<HTMLElement>('[data-id]')].at(-1)?.dataset['id']
  if (id !== undefined) await navigator.clipboard.writeText(id)
  return id
}
