import { setImmediate as nextEvents } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { openHeavyThreads } from '../../accounts/limits/heavy-threads.ts'
import { readJsonSpans } from './json-spans.ts'
import { SpanBuilder } from './span-builder.ts'

const builder = new SpanBuilder(openHeavyThreads())
const write = (count: number) => {
  const spans = Array.from({ length: count }, (_, index) => ({ name: `é ${index}`, x: 'x'.repeat(100) }))
  const resource = { attributes: [{ key: 'a', value: { stringValue: 'b' } }] }
  return { spans, bytes: Buffer.from(JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ spans }] }, {}] })) }
}

async function read(bytes: Buffer) {
  const groups = [...readJsonSpans(await builder.split(bytes))]
  return groups.map(({ resource, spans }) => ({
    resource: resource.attributes,
    spans: Array.from(spans, (span) => JSON.parse(Buffer.from(span.bytes).toString()) as unknown),
  }))
}

test.each([3, 5_000])('a request of %i spans is divided into spans', async (count) => {
  const { spans, bytes } = write(count)
  expect(await read(bytes)).toEqual([
    { resource: [{ key: 'a', value: 'b' }], spans },
    { resource: [], spans: [] },
  ])
})

test.each([10, 100_000])('an invalid request is rejected at any length: %i', async (length) => {
  const bytes = Buffer.from(JSON.stringify({ resourceSpans: 'x'.repeat(length) }))
  await expect(builder.split(bytes)).rejects.toThrow('resourceSpans is not a list')
})

/** The longest pause of this thread while a request is divided, as a share of the time. */
async function measureLongestPause(bytes: Buffer): Promise<number> {
  let [maxMs, isDone] = [0, false]
  const splitting = builder.split(bytes).finally(() => (isDone = true))
  const startMs = performance.now()
  for (let beforeMs = startMs; !isDone;) {
    await nextEvents()
    maxMs = Math.max(maxMs, performance.now() - beforeMs)
    beforeMs = performance.now()
  }
  await splitting
  return maxMs / (performance.now() - startMs)
}

test('other requests do not wait while a large request is divided', async () => {
  const { bytes } = write(60_000)
  await builder.split(write(5_000).bytes)
  // A loaded machine pauses a thread too, so the best of three counts.
  const shares = [await measureLongestPause(bytes), await measureLongestPause(bytes), await measureLongestPause(bytes)]
  expect(Math.min(...shares)).toBeLessThan(0.5)
})
