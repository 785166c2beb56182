import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createLogger } from '../../../lib/log.ts'
import type { Pod } from '../../kube.ts'
import { createEnginePods } from './engine-pods.ts'

const log = createLogger('test', 'silent')
const pod = (name: string, changes: Partial<Pod> = {}): Pod => ({
  name,
  ip: `127.0.0.${name}`,
  ready: true,
  labels: { 'trainyard.dev/base-model': 'tiny' },
  ...changes,
})

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('only Ready pods with an address, of the base model, are listed', async () => {
  const other = { labels: { 'trainyard.dev/base-model': 'big' } }
  const all = [pod('1'), pod('2', { ready: false }), pod('3', { ip: undefined }), pod('4', other)]
  const pods = createEnginePods({ listPods: () => Promise.resolve(all) }, log)
  expect(await pods.listReady('tiny')).toEqual([{ name: '1', ip: '127.0.0.1' }])
})

test('many requests at once ask Kubernetes once a second', async () => {
  const listPods = vi.fn(() => Promise.resolve([pod('1')]))
  const pods = createEnginePods({ listPods }, log)
  await Promise.all(Array.from({ length: 50 }, () => pods.listReady('tiny')))
  expect(listPods).toHaveBeenCalledTimes(1)
  await vi.advanceTimersByTimeAsync(1_100)
  await pods.listReady('tiny')
  expect(listPods).toHaveBeenCalledTimes(2)
})

test('the last list is kept while Kubernetes fails or does not answer', async () => {
  const listPods = vi.fn(() => Promise.resolve([pod('1')]))
  const pods = createEnginePods({ listPods }, log)
  await pods.listReady('tiny')
  listPods.mockRejectedValueOnce(new Error('away'))
  await vi.advanceTimersByTimeAsync(2_000)
  expect(await pods.listReady('tiny')).toHaveLength(1)
  listPods.mockReturnValueOnce(new Promise(() => {}))
  const listing = pods.listReady('tiny')
  await vi.advanceTimersByTimeAsync(300)
  expect(await listing).toHaveLength(1)
})
