import { expect, test } from 'vitest'
import type { BaseModel } from '../crds/generated.ts'
import { labels } from '../crds/names.ts'
import type { Pod } from '../lib/kube/objects.ts'
import { findPodName, listBaseModelsNamed, listEngines, listPods, listReadyEngines } from './component-pods.ts'

function makePod(name: string, baseModel: string, component: string, status: Partial<Pod['status']> = {}): Pod {
  const metadata = {
    name,
    uid: `uid-${name}`,
    labels: { [labels.baseModel]: baseModel, [labels.component]: component },
  }
  return { apiVersion: 'v1', kind: 'Pod', metadata, status }
}

const ready = { podIP: '10.0.0.1', conditions: [{ type: 'Ready', status: 'True' }] }
const pods = toCache([
  makePod('ready', 'tiny', 'engine', ready),
  makePod('starting', 'tiny', 'engine', { podIP: '10.0.0.2' }),
  makePod('new', 'tiny', 'engine'),
  makePod('other', 'big', 'engine', ready),
  makePod('trainer', 'tiny', 'trainer', ready),
])

function toCache<T>(objects: T[]) {
  return { list: () => objects, get: () => undefined }
}

const namesOf = (found: Pod[]) => found.map(({ metadata }) => metadata.name)

test('pods are listed by base model and component', () => {
  expect(namesOf(listPods(pods, 'tiny', 'trainer'))).toEqual(['trainer'])
  expect(namesOf(listPods(pods, 'tiny', 'engine'))).toEqual(['ready', 'starting', 'new'])
  expect(listPods(pods, 'absent', 'engine')).toEqual([])
})

test('engines have an address, whether they are Ready or not', () => {
  expect(namesOf(listEngines(pods, 'tiny'))).toEqual(['ready', 'starting'])
  expect(namesOf(listReadyEngines(pods, 'tiny'))).toEqual(['ready'])
})

test('a base model is found by its first name only', () => {
  const make = (...names: string[]): BaseModel => ({
    metadata: { name: names[0] ?? '', namespace: 'ns' },
    spec: { names, source: {} },
  })
  const baseModels = toCache([make('a', 'b'), make('b')])
  expect(listBaseModelsNamed(baseModels, 'b').map(({ metadata }) => metadata.name)).toEqual(['b'])
})

test('a pod is found by its uid', () => {
  expect(findPodName(pods, 'uid-new')).toBe('new')
  expect(findPodName(pods, 'uid-gone')).toBeUndefined()
  expect(findPodName(pods, null)).toBeUndefined()
})
