import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { labels } from '../../crds/names.ts'
import type { Pod } from '../../lib/kube/objects.ts'
import { ColdStarts } from './cold-starts.ts'
import { OperatorEvents } from './events.ts'

const created = '2026-01-01T00:00:00Z'
const engine = { [labels.baseModel]: 'base', [labels.component]: 'engine' }

function makePod(
  uid: string,
  isReady: boolean,
  { restarts = 0, own = engine }: { restarts?: number; own?: object } = {},
): Pod {
  const ready = { type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: '2026-01-01T00:00:42Z' }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: uid, uid, creationTimestamp: created, labels: { ...own } },
    status: { conditions: [ready], containerStatuses: [{ name: 'engine', ready: isReady, restartCount: restarts }] },
  }
}

async function observe(...changes: [Pod, Pod | undefined][]): Promise<string> {
  const registry = new Registry()
  const pods = changes.map(([pod]) => pod)
  const cache = { list: () => pods, get: () => undefined }
  const coldStarts = new ColdStarts(cache, new OperatorEvents(registry))
  for (const [pod, before] of changes) coldStarts.observe(pod, before)
  return registry.metrics()
}

const sum = 'trainyard_engine_cold_start_seconds_sum{base_model="base"}'
const count = 'trainyard_engine_cold_start_seconds_count{base_model="base"}'

test('a new engine pod is measured once, from its creation to its first Ready', async () => {
  const [starting, ready] = [makePod('a', false), makePod('a', true)]
  const metrics = await observe([starting, undefined], [ready, starting], [starting, ready], [ready, starting])
  expect(metrics).toContain(`${sum} 42`)
  expect(metrics).toContain(`${count} 1`)
})

test.each<[string, [Pod, Pod | undefined]]>([
  ['that was Ready when the watch began', [makePod('a', true), undefined]],
  ['whose container has restarted', [makePod('a', true, { restarts: 1 }), makePod('a', false)]],
  [
    'of a trainer',
    [
      makePod('a', true, { own: { ...engine, [labels.component]: 'trainer' } }),
      makePod('a', false, { own: { ...engine, [labels.component]: 'trainer' } }),
    ],
  ],
])('a pod %s is not measured', async (_, change) => {
  expect(await observe(change)).not.toContain(count)
})
