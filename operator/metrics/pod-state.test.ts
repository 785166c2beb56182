import { expect, test } from 'vitest'
import type { Pod } from '../../lib/kube/objects.ts'
import { countGpus, isOnNode, stateOf } from './pod-state.ts'

const podWith = (ready: boolean, spec: Pod['spec'] = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p' },
  spec,
  status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
})

test.each<[string, boolean, boolean | undefined, string]>([
  ['that answers', true, true, 'busy'],
  ['without work', true, false, 'idle'],
  ['that is not Ready yet', false, false, 'starting'],
  ['that ends and still answers', false, true, 'busy'],
  ['that does not say', true, undefined, 'unknown'],
])('the state of a pod %s', (_, ready, isBusy, state) => {
  expect(stateOf(podWith(ready), isBusy)).toBe(state)
})

test('GPUs of any maker count once, whether requested, limited or both', () => {
  const both = { requests: { 'nvidia.com/gpu': '2', cpu: '4' }, limits: { 'nvidia.com/gpu': '2', memory: '1Gi' } }
  const mig = { limits: { 'nvidia.com/mig-1g.5gb': '1' } }
  const containers = [{ name: 'a', resources: both }, { name: 'b', resources: mig }, { name: 'c' }]
  expect(countGpus(podWith(true, { containers }))).toBe(3)
  expect(countGpus(podWith(true))).toBe(0)
})

test('a pod without a node, or one that has ended, occupies nothing', () => {
  expect(isOnNode(podWith(true))).toBe(false)
  expect(isOnNode(podWith(true, { nodeName: 'n' }))).toBe(true)
  expect(isOnNode({ ...podWith(true, { nodeName: 'n' }), status: { phase: 'Failed' } })).toBe(false)
})
