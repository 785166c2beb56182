import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Call } from './calls.ts'
import { findCriticalPath, findSlowest } from './critical-path.ts'
import { buildTrace } from './span-tree.ts'

const at = (ms: number) => new Date(Date.parse('2026-11-21T10:00:00Z') + ms).toISOString()

/** Calls by id, parent, begin and end. */
const traceOf = (...calls: [string, string | null, number, number][]) =>
  buildTrace(
    calls.map(([id, parent_id, from, to]): Call => ({
      id,
      parent_id,
      trace_id: 't',
      op_name: id,
      started_at: at(from),
      ended_at: at(to),
    })),
    0,
  )

const pathOf = (...calls: Parameters<typeof traceOf>) => {
  const trace = traceOf(...calls)
  const { ownMs, isOn } = findCriticalPath(trace)
  return Object.fromEntries(trace.spans.flatMap(({ name }, index) => (isOn[index] ? [[name, ownMs[index]]] : [])))
}

describe('the critical path', () => {
  test('goes through what ended last, and leaves out what ran beside it', () => {
    expect(
      pathOf(['root', null, 0, 100], ['fast', 'root', 10, 30], ['slow', 'root', 10, 70], ['last', 'root', 75, 95]),
    ).toEqual({ root: 10 + 5 + 5, slow: 60, last: 20 })
  })

  test('goes on in the calls of a call', () => {
    expect(pathOf(['root', null, 0, 100], ['a', 'root', 0, 90], ['b', 'a', 20, 80], ['c', 'b', 20, 50])).toEqual({
      root: 10,
      a: 30,
      b: 30,
      c: 30,
    })
  })

  test('ends with the parent where a call outlives it, and counts only once where calls overlap', () => {
    expect(pathOf(['root', null, 0, 100], ['late', 'root', 60, 150], ['a', 'root', 0, 80])).toEqual({
      root: 0,
      late: 40,
      a: 60,
    })
    expect(pathOf(['root', null, 0, 100], ['b', 'root', 50, 100], ['a', 'root', 0, 80])).toEqual({
      root: 0,
      b: 50,
      a: 50,
    })
  })

  test('names the slowest part', () => {
    const trace = traceOf(['root', null, 0, 100], ['a', 'root', 10, 90])
    expect(trace.spans[findSlowest(findCriticalPath(trace))!]!.name).toBe('a')
    const empty = traceOf()
    expect(findSlowest(findCriticalPath(empty))).toBeUndefined()
  })

  test('decides the whole duration of a trace without gaps, whatever its calls are', () => {
    const span = fc.record({ parent: fc.nat(30), from: fc.nat(1_000), length: fc.nat(500) })
    fc.assert(
      fc.property(fc.array(span, { maxLength: 30 }), (others) => {
        const calls = others.map(({ parent, from, length }, index): [string, string, number, number] => [
          `c${index}`,
          parent < index ? `c${parent}` : 'root',
          from,
          Math.min(1_500, from + length),
        ])
        const trace = traceOf(['root', null, 0, 1_500], ...calls)
        const { ownMs, isOn } = findCriticalPath(trace)
        expect(ownMs.every((ms) => ms >= 0)).toBe(true)
        expect(ownMs.reduce((sum, ms) => sum + ms, 0)).toBeCloseTo(1_500)
        trace.spans.forEach(({ parent }, index) => expect(!isOn[index] || parent < 0 || isOn[parent] === 1).toBe(true))
        expect(isOn[0]).toBe(1)
      }),
    )
  })
})
