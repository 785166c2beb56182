import { expect, test } from 'vitest'
import { listDataSets, readKey } from './data-sets.ts'

test('uploads and data sets of weave are one list, the newest first, and may have the same name', () => {
  const version = {
    version: 'v1',
    size: 12,
    address: 'wandb-artifact:///e/p/rows:v1',
    created_at: '2026-11-21T10:00:00Z',
  }
  const upload = {
    id: '1',
    name: 'rows',
    type: 'dataset',
    created_at: '2026-11-20T10:00:00Z',
    version_count: 2,
    versions: [version],
  }
  const object = { object_id: 'rows', digest: 'abc', version_index: 4, created_at: '2026-11-22T10:00:00.000000Z' }
  const sets = listDataSets([upload, { ...upload, name: 'empty', version_count: 0, versions: [] }], [object])
  expect(sets.map(({ key, versions, newest, bytes }) => [key, versions, newest, bytes])).toEqual([
    ['weave/rows', 5, 'v4', undefined],
    ['upload/rows', 2, 'v1', 12],
    ['upload/empty', 0, '–', undefined],
  ])
  expect(sets.map(({ key }) => readKey(key))).toEqual([
    { isOfWeave: true, name: 'rows' },
    { isOfWeave: false, name: 'rows' },
    { isOfWeave: false, name: 'empty' },
  ])
})
