import { expect, test } from 'vitest'
import type { Call } from './calls.ts'
import { buildTrace, listParents, listVisible, walk } from './span-tree.ts'

const begin = Date.parse('2026-11-21T10:00:00Z')
const at = (ms: number) => new Date(begin + ms).toISOString()

function makeCall(id: string, parent: string | null, from: number, more: Partial<Call> = {}): Call {
  const ids = { id, trace_id: 't', parent_id: parent }
  return { ...ids, op_name: id, started_at: at(from), ended_at: at(from + 10), exception: null, ...more }
}

const shape = (calls: readonly Call[]) =>
  buildTrace(calls, begin + 1_000).spans.map(
    ({ name, level, position, siblings }) => `${name} ${level} ${position}/${siblings}`,
  )

test('calls are in the order of time below their parents, whatever the order in which they come', () => {
  const calls = [
    makeCall('b', 'root', 5),
    makeCall('leaf', 'a', 4),
    makeCall('root', null, 0),
    makeCall('a', 'root', 3),
    makeCall('c', 'root', 5),
  ]
  expect(shape(calls)).toEqual(['root 1 1/1', 'a 2 1/3', 'leaf 3 1/1', 'b 2 2/3', 'c 2 3/3'])
})

test('microseconds order calls', () => {
  const [late, early] = ['2026-11-21T10:00:00.000900Z', '2026-11-21T10:00:00.000100Z']
  expect(shape([makeCall('a', null, 0, { started_at: late }), makeCall('b', null, 0, { started_at: early })])).toEqual([
    'b 1 1/2',
    'a 1 2/2',
  ])
})

test('a call without its parent is a root, and parents in a circle are cut', () => {
  expect(shape([makeCall('orphan', 'gone', 1), makeCall('own', 'own', 2)])).toEqual(['orphan 1 1/2', 'own 1 2/2'])
  const circle = [makeCall('x', 'z', 1), makeCall('y', 'x', 2), makeCall('z', 'y', 3)]
  expect(shape(circle).map((line) => line.slice(0, 3))).toEqual(['x 1', 'y 2', 'z 3'])
})

test('a running call lasts until now', () => {
  const { spans, durationMs } = buildTrace([makeCall('a', null, 0, { ended_at: null })], begin + 1_000)
  expect(spans[0]).toMatchObject({ isRunning: true, durationMs: 1_000 })
  expect(durationMs).toBe(1_000)
})

const failed = [
  makeCall('root', null, 0),
  makeCall('good', 'root', 1),
  makeCall('below good', 'good', 2),
  makeCall('bad', 'root', 3),
  makeCall('worse', 'bad', 4, { exception: 'no' }),
]

test('only what leads to errors is visible, and nothing below what is folded', () => {
  const { spans } = buildTrace(failed, begin)
  const names = (folded: string[], errorsOnly: boolean) =>
    listVisible(spans, new Set(folded), ({ leadsToError }) => !errorsOnly || leadsToError).map(
      (index) => spans[index]!.name,
    )
  expect(names([], true)).toEqual(['root', 'bad', 'worse'])
  expect(names(['good'], false)).toEqual(['root', 'good', 'bad', 'worse'])
  expect(names(['root'], true)).toEqual(['root'])
  expect(listParents(spans)).toEqual(['root', 'good', 'bad'])
})

test('a walk goes up, down and to the sides, and not beyond', () => {
  const { spans } = buildTrace(failed, begin)
  const from = (name: string) => spans.findIndex((span) => span.name === name)
  const to = (name: string, step: Parameters<typeof walk>[2]) => spans[walk(spans, from(name), step) ?? -1]?.name
  expect([to('bad', 'parent'), to('bad', 'child'), to('bad', 'previous')]).toEqual(['root', 'worse', 'good'])
  expect(to('good', 'next')).toBe('bad')
  expect([to('root', 'parent'), to('worse', 'child'), to('good', 'previous'), to('bad', 'next')]).toEqual(
    Array.from({ length: 4 }),
  )
  expect(to('below good', 'next')).toBeUndefined()
})

test('10,000 calls can be a chain or be beside each other', () => {
  const ids = Array.from({ length: 10_000 }, (_, index) => `c${index}`)
  const chain = buildTrace(
    ids.map((id, index) => makeCall(id, ids[index - 1] ?? null, index)),
    begin,
  )
  expect(chain.spans.at(-1)).toMatchObject({ level: 10_000, end: 10_000 })
  const flat = buildTrace(
    ids.map((id, index) => makeCall(id, index === 0 ? null : 'c0', index)),
    begin,
  )
  expect(flat.spans[0]).toMatchObject({ end: 10_000 })
  expect(flat.spans.at(-1)).toMatchObject({ level: 2, position: 9_999, siblings: 9_999 })
})
