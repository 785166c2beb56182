import { setImmediate as nextEvents } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { digestValue } from '../digests.ts'
import { parseValue } from '../../../lib/json/value.ts'
import { openHeavyThreads } from '../../accounts/limits/heavy-threads.ts'
import { inspectValue } from './inspect-value.ts'
import { ValueInspector } from './value-inspector.ts'

const inspector = new ValueInspector(openHeavyThreads())
const numbers = new Map([['team/p', 7]])
const large = (count: number) => JSON.stringify({ _type: 'X', items: Array.from({ length: count }, (_, i) => `é${i}`) })

test('values of all sizes are inspected with the same result', async () => {
  for (const val of [large(10), large(100_000)]) {
    expect(await inspector.inspect({ val, numbers })).toEqual({
      digest: digestValue(parseValue(val)),
      completed: undefined,
      kind: 'object',
      baseObjectClass: null,
      leafObjectClass: null,
    })
  }
})

test('digests of values of all sizes have the internal form of references', async () => {
  for (const count of [10, 100_000]) {
    const write = (ref: string) => `{"ref": "${ref}/object/o:d", "items": ${large(count)}}`
    const { digest } = await inspector.inspect({ val: write('weave:///team/p'), numbers })
    expect(digest).toBe(digestValue(parseValue(write('weave-trace-internal:///7'))))
  }
})

test('a large value gets the members that name its class, or is rejected', async () => {
  const val = JSON.stringify({ api_model_id: 'x'.repeat(300_000), provider: 'p', max_tokens: 1 })
  const given = { val, numbers, builtinObjectClass: 'ProviderModel' }
  expect(await inspector.inspect(given)).toEqual(inspectValue(given))
  await expect(
    inspector.inspect({ val: `[${large(100_000)}]`, numbers, builtinObjectClass: 'ProviderModel' }),
  ).rejects.toMatchObject({ status: 400, message: 'Only an object can have a builtin_object_class' })
})

test('a value of more than a million values is too large', async () => {
  const val = `[${'1,'.repeat(1_000_000)}1]`
  await expect(inspector.inspect({ val, numbers })).rejects.toMatchObject({
    status: 413,
    message: 'Request too large',
  })
})

test('other requests do not wait while a large value is inspected', async () => {
  const val = large(300_000)
  const startMs = performance.now()
  inspectValue({ val, numbers })
  const mainThreadMs = performance.now() - startMs
  await inspector.inspect({ val: large(100_000), numbers })
  expect(await measureLongestWait(() => inspector.inspect({ val, numbers }))).toBeLessThan(mainThreadMs / 3)
})

async function measureLongestWait(work: () => Promise<unknown>): Promise<number> {
  let isDone = false
  const done = work().finally(() => (isDone = true))
  let maxMs = 0
  for (let beforeMs = performance.now(); !isDone;) {
    await nextEvents()
    maxMs = Math.max(maxMs, performance.now() - beforeMs)
    beforeMs = performance.now()
  }
  await done
  return maxMs
}
