import { lazy, Suspense } from 'react'
import { Link } from '@tanstack/react-router'
import controls from '../../parts/controls.module.css'
import { Peek } from '../../parts/peek.tsx'
import { Loading } from '../../parts/state.tsx'
import type { TracesState } from './use-traces.ts'

// The table is there without it.
const Detail = lazy(async () => ({ default: (await import('../call/detail.tsx')).Detail }))

interface CallPeekProps {
  state: TracesState
  id: string
  /** When the call ended, as far as the table knows. */
  endedAt: string | null | undefined
  onClose: () => void
}

/** A call beside the table. */
export function CallPeek({
  state: { entity, project, projectId, search, change },
  id,
  endedAt,
  onClose,
}: CallPeekProps) {
  const link = (
    <Link to="/$entity/$project/weave/calls/$call" params={{ entity, project, call: id }} className={controls.button}>
      Open
    </Link>
  )
  return (
    <Peek label="Call" id={id} link={link} onClose={onClose}>
      <Suspense fallback={<Loading rows={10} />}>
        <Detail projectId={projectId} id={id} endedAt={endedAt} tab={search.tab} onTab={(tab) => change({ tab })} />
      </Suspense>
    </Peek>
  )
}
