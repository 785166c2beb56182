import { useEffect, useSyncExternalStore } from 'react'
import { useQueryClient, type QueryClient } from '@tanstack/react-query'
import { basePath } from './base.ts'
import { concerns } from '../logic/changes.ts'

type Connection = 'live' | 'connecting' | 'lost'

// A stream that does not come back in this time is shown as lost, and screens ask instead.
const lostAfterMs = 10_000
// Changes that arrive together are shown together: at most four times a second.
const gatherMs = 250

let connection: Connection = 'connecting'
const listeners = new Set<() => void>()

function setConnection(next: Connection): void {
  if (connection === next) return
  connection = next
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Whether changes arrive by themselves. */
export function useConnection(): Connection {
  return useSyncExternalStore(subscribe, () => connection)
}

/** How often a screen asks for what may have changed: seldom while changes arrive by themselves. */
export function usePolling(): number {
  return useConnection() === 'live' ? 60_000 : 5_000
}

/** Follows the changes of a project, and makes the screens read what has changed. */
export function useLiveProject(project: string): void {
  const queries = useQueryClient()
  useEffect(() => follow(queries, `project:${project}`), [queries, project])
}

function follow(queries: QueryClient, topic: string): () => void {
  const stream = new EventSource(`${basePath}/v1/preview/stream?topics=${encodeURIComponent(topic)}`)
  const changed = new Set<string>()
  let gathering: ReturnType<typeof setTimeout> | undefined
  let losing: ReturnType<typeof setTimeout> | undefined = setTimeout(() => setConnection('lost'), lostAfterMs)
  const refresh = () => {
    gathering = undefined
    const kinds = [...changed]
    changed.clear()
    void queries.invalidateQueries({ predicate: ({ queryKey }) => kinds.some((kind) => concerns(kind, queryKey)) })
  }
  const onChange = (kind: string) => {
    changed.add(kind)
    gathering ??= setTimeout(refresh, gatherMs)
  }
  stream.addEventListener('open', () => {
    clearTimeout(losing)
    losing = undefined
    setConnection('live')
  })
  stream.addEventListener('error', () => {
    losing ??= setTimeout(() => setConnection('lost'), stream.readyState === EventSource.CLOSED ? 0 : lostAfterMs)
    if (stream.readyState === EventSource.CLOSED) void queries.invalidateQueries({ queryKey: ['session'] })
  })
  stream.addEventListener('change', ({ data }: MessageEvent<string>) => onChange(readKind(data)))
  stream.addEventListener('reset', () => onChange('reset'))
  return () => {
    clearTimeout(gathering)
    clearTimeout(losing)
    stream.close()
    setConnection('connecting')
  }
}

function readKind(data: string): string {
  const { kind } = JSON.parse(data) as { kind?: string }
  return kind ?? 'reset'
}
