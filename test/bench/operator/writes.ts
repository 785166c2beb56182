import { group } from '../../../crds/names.ts'

/** How many writes kube-apiserver has answered, by `verb resource`. */
export type Writes = Map<string, number>

const readVerbs = new Set(['GET', 'LIST', 'WATCH', 'CONNECT'])
const groups = new Set([group, 'events.k8s.io'])

/** Reads the writes of our resources, and of Events about them, from kube-apiserver's own metrics. */
export function readWrites(metrics: string): Writes {
  const writes: Writes = new Map()
  for (const line of metrics.split('\n')) {
    if (!line.startsWith('apiserver_request_total{')) continue
    const label = (name: string) => new RegExp(`[{,]${name}="([^"]*)"`).exec(line)?.[1] ?? ''
    if (!groups.has(label('group')) || readVerbs.has(label('verb'))) continue
    const key = [label('verb'), label('resource'), label('subresource')].join(' ').trim()
    writes.set(key, (writes.get(key) ?? 0) + Number(line.split(' ').at(-1)))
  }
  return writes
}

/** The writes between two readings. */
export function subtractWrites(after: Writes, before: Writes): Writes {
  const entries = [...after].map(([key, count]) => [key, count - (before.get(key) ?? 0)] as const)
  return new Map(entries.filter(([, count]) => count > 0))
}

export function sumWrites(writes: Writes): number {
  return [...writes.values()].reduce((sum, count) => sum + count, 0)
}
