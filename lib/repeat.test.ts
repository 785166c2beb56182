import { expect, test } from 'vitest'
import { repeat } from './repeat.ts'

test('work is done again after a failure, one at a time, and a last time at the end', async () => {
  const errors: unknown[] = []
  let [done, running] = [0, 0]
  const reached = Promise.withResolvers<void>()
  const work = async () => {
    expect(++running).toBe(1)
    await Promise.resolve()
    running--
    if (++done === 3) reached.resolve()
    if (done === 1) throw new Error('first')
  }
  const stop = repeat(1, work, (error) => errors.push(error))
  await reached.promise
  const before = done
  await stop()
  const after = done
  expect(after).toBeGreaterThan(before)
  await new Promise((resolve) => setTimeout(resolve, 10))
  expect(done).toBe(after)
  expect(errors).toEqual([new Error('first')])
})
