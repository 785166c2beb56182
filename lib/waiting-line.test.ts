import fc from 'fast-check'
import { expect, test } from 'vitest'
import { chooseCases } from '../test/support/random-cases.ts'
import { WaitingLine } from './waiting-line.ts'

test('a line behaves like a list with removals', () => {
  // A step adds a value, or removes the value at an index.
  fc.assert(
    fc.property(fc.array(fc.option(fc.nat(20)), { maxLength: 60 }), (steps) => {
      const line = new WaitingLine<number>()
      const list: { value: number; leave: () => void }[] = []
      for (const [value, index] of steps.entries()) {
        if (index === null || list.length === 0) list.push({ value, leave: line.push(value) })
        else for (const { leave } of list.splice(index % list.length, 1)) leave()
        expect(line.first).toBe(list[0]?.value)
      }
    }),
    chooseCases(100),
  )
})
