import { expect, test } from 'vitest'
import type { CallRow } from '../../../db/tracing/call-rows.ts'
import { joinRows } from './join-rows.ts'

const startedAt = '2026-11-21T10:00:00.000000Z'
const stored = (key: string) => ({ key, size: 300_000 })

const row = (id: string, more: Partial<CallRow> = {}): CallRow => ({
  week: -1,
  project: 1,
  id,
  start: undefined,
  end: undefined,
  payloads: {},
  startSize: 0,
  endSize: 0,
  spilled: undefined,
  ...more,
})
const started = (id: string, inputs: string, more: Partial<CallRow> = {}) =>
  row(id, {
    start: { traceId: 't', opName: 'op', displayName: null, startedAt, inputRefs: undefined, wbUserId: 'u' },
    payloads: { inputs: Buffer.from(inputs) },
    startSize: inputs.length,
    ...more,
  })
const ended = (id: string, output: string, more: Partial<CallRow> = {}) =>
  row(id, {
    end: { endedAt: startedAt, outputRefs: undefined, descendantErrors: false },
    payloads: { output: Buffer.from(output) },
    endSize: output.length,
    ...more,
  })

test('rows of one request stay unchanged', () => {
  const rows = [row('b'), row('a')]
  expect(joinRows([rows])).toBe(rows)
})

test('calls of several requests occur once in each project, in the order of ids', () => {
  const joined = joinRows([
    [started('b', '1')],
    [ended('b', '22'), started('c', '3', { project: 2 })],
    [started('c', '4')],
  ])
  expect(joined.map(({ id, project, startSize, endSize }) => [id, project, startSize, endSize])).toEqual([
    ['b', 1, 1, 2],
    ['c', 1, 1, 0],
    ['c', 2, 1, 0],
  ])
  expect(joined[0]).toMatchObject({ payloads: { inputs: Buffer.from('1'), output: Buffer.from('22') } })
  expect([joined[0]?.start, joined[0]?.end]).not.toContain(undefined)
})

test('of two starts the later one counts, and only its payloads in the store are used', () => {
  const first = started('a', '1', { payloads: {}, spilled: { inputs: stored('old'), attributes: stored('gone') } })
  const end = ended('a', '2', { payloads: {}, spilled: { output: stored('kept') } })
  const second = started('a', '3', { payloads: {}, spilled: { inputs: stored('new') } })
  const [joined] = joinRows([[first], [end], [second]])
  expect(joined?.spilled).toEqual({ inputs: stored('new'), output: stored('kept') })
})

test('of two ends the later one counts, also with a start between them', () => {
  for (const between of [[], [started('a', '1')]]) {
    const [joined] = joinRows([[ended('a', '22')], between, [ended('a', '333')]])
    expect(joined).toMatchObject({ payloads: { output: Buffer.from('333') }, endSize: 3 })
  }
})
