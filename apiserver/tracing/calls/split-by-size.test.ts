import { expect, test } from 'vitest'
import type { StoredCall } from '../../../db/tracing/read-calls.ts'
import { splitBySize } from './split-by-size.ts'

const mb = 1024 * 1024
const call = (id: string, sizeMb: number): StoredCall => ({
  id,
  trace_id: 't',
  op_name: 'op',
  started_at: '2026-11-21T10:00:00.000000Z',
  spilled: sizeMb > 0 ? { inputs: { key: 'a', size: sizeMb * mb } } : null,
})

test.each<[string, StoredCall[], string[][]]>([
  ['none', [], []],
  ['small ones', [call('a', 0), call('b', 0)], [['a', 'b']]],
  [
    'large ones',
    [call('a', 9), call('b', 0), call('c', 9), call('d', 7)],
    [
      ['a', 'b'],
      ['c', 'd'],
    ],
  ],
  ['one that is larger than all', [call('a', 0), call('b', 30), call('c', 0)], [['a'], ['b'], ['c']]],
])('calls are read in parts: %s', (_, calls, expected) => {
  expect([...splitBySize(calls)].map((part) => part.map(({ id }) => id))).toEqual(expected)
})
