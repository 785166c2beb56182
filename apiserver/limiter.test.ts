import { expect, test } from 'vitest'
import { createLimiter } from './limiter.ts'

test('no more than so many run at a time, in order, and a failure makes room too', async () => {
  const limit = createLimiter(2)
  const ends: (() => void)[] = []
  const started: number[] = []
  const runs = [0, 1, 2, 3].map((index) =>
    limit(async () => {
      started.push(index)
      await new Promise<void>((resolve) => ends.push(resolve))
      if (index === 0) throw new Error('failed')
      return index
    }),
  )
  const settled = Promise.allSettled(runs)
  expect(started).toEqual([0, 1])
  ends[0]!()
  await expect(runs[0]).rejects.toThrow('failed')
  await Promise.resolve()
  expect(started).toEqual([0, 1, 2])
  ends[1]!()
  await runs[1]
  await Promise.resolve()
  expect(started).toEqual([0, 1, 2, 3])
  ends.slice(2).forEach((end) => end())
  expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled', 'fulfilled'])
})
