import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { WakeableRepeat } from './wakeable-repeat.ts'

const throwAll = (error: unknown) => {
  throw error
}

test('work runs soon after a call, once for several calls', async () => {
  let runs = 0
  const repeated = new WakeableRepeat(async () => runs++, { everyMs: 60_000, minPauseMs: 20, onError: throwAll })
  await delay(50)
  expect(runs).toBe(0)
  repeated.wake()
  repeated.wake()
  await delay(5)
  expect(runs).toBe(1)
  await repeated.close()
})

test('work runs without a call too, and after an error', async () => {
  const errors: unknown[] = []
  const failed = new Error('no')
  const { promise, resolve } = Promise.withResolvers<void>()
  const work = async () => {
    if (errors.length === 2) resolve()
    throw failed
  }
  const repeated = new WakeableRepeat(work, { everyMs: 2, minPauseMs: 1, onError: (error) => errors.push(error) })
  await promise
  await repeated.close()
  expect(errors.slice(0, 2)).toEqual([failed, failed])
})

test('the end waits for work that runs, and none runs later', async () => {
  let runs = 0
  const work = async () => {
    await delay(20)
    runs++
  }
  const repeated = new WakeableRepeat(work, { everyMs: 60_000, minPauseMs: 1, onError: throwAll })
  repeated.wake()
  await delay(5)
  await repeated.close()
  expect(runs).toBe(1)
  repeated.wake()
  await delay(50)
  expect(runs).toBe(1)
})
