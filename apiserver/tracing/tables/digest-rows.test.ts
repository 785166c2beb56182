import { setImmediate as nextEvents } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { JsonText } from '../../../lib/json/json-text.ts'
import { openHeavyThreads } from '../../accounts/limits/heavy-threads.ts'
import { ValueInspector } from '../objects/value-inspector.ts'
import { digestRows } from './digest-rows.ts'

const deps = {
  inspector: new ValueInspector(openHeavyThreads()),
  numbers: new Map<string, number>(),
}
const rowsOf = (count: number, length: number) => {
  const row = { list: Array.from({ length }, (_, index) => index) }
  return new JsonText(Buffer.from(JSON.stringify(Array.from({ length: count }, () => row))))
}

test.each<[string, number, number]>([
  ['few rows of medium size', 300, 5_000],
  ['many small rows', 50_000, 3],
  ['a few large rows', 4, 200_000],
])('other requests are served while %s are digested', async (_name, count, length) => {
  const turnsBefore = await countTurns(() => nextEvents())
  const turns = await countTurns(() => digestRows(deps, rowsOf(count, length), []))
  expect(turns).toBeGreaterThan(turnsBefore + 3)
})

async function countTurns(work: () => Promise<unknown>): Promise<number> {
  let isDone = false
  const done = work().finally(() => (isDone = true))
  let count = 0
  for (; !isDone; count++) await nextEvents()
  await done
  return count
}
