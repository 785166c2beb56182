import { expect, test } from 'vitest'
import type { BaseModel } from '../../crds/generated.ts'
import { labels } from '../../crds/names.ts'
import type { Pod } from '../../lib/kube/objects.ts'
import { measureTrainers } from './trainers.ts'

const makePod = (name: string, isReady: boolean): Pod => ({
  metadata: { name, uid: `uid-${name}`, labels: { [labels.baseModel]: 'tiny', [labels.component]: 'trainer' } },
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] },
})

function measure(pods: Pod[], downloads: NonNullable<BaseModel['status']>['downloads'] = []) {
  const metadata = { name: 'tiny' }
  const status = { trainers: { wanted: 3 }, downloads }
  const tiny: BaseModel = { metadata, spec: { names: ['org/tiny'], source: { path: 'models/none' } }, status }
  const cache = <T>(objects: T[]) => ({ list: () => objects, get: () => undefined })
  return measureTrainers({ baseModels: cache([tiny]), pods: cache(pods) }, 'org/tiny')
}

test('the first trainer that is not Ready says why a job waits: it needs time, or it downloads its base model', () => {
  const pods = [makePod('a', true), makePod('b', false), makePod('c', false)]
  expect(measure(pods)).toMatchObject({ wanted: 3, ready: 1, notReady: { reason: 'NotReadyYet' } })
  expect(measure(pods, [{ pod: 'c', doneBytes: 1, totalBytes: 2 }]).notReady?.reason).toBe('NotReadyYet')
  expect(measure(pods, [{ pod: 'b', doneBytes: 2e9, totalBytes: 4e9 }]).notReady).toEqual({
    reason: 'Downloading',
    message: 'pod b: has downloaded 2.000 of 4.000 GB of the base model',
  })
})
