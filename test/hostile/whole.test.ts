import { expect, test } from 'vitest'
import { withBesiegedServer } from './besieged-server.ts'
import { besiegeEngine } from './engine-siege.ts'
import { makeGrammars } from './grammars.ts'
import { checkSiege, printSiege } from './outcome.ts'
import { besiege } from './siege.ts'
import { ensureSeed } from '../support/random-cases.ts'
import { useStack } from '../support/stack.ts'

const stack = useStack()
const all = { known: Infinity, made: 300, eightfold: 100, mixed: 50, calmMs: 60_000 }
// An entity waits for at most one grammar of another entity, which ends after eight seconds.
const grammarMs = 10_000

test('hostile requests of one key do not stop the service for others', { timeout: 5_400_000 }, async () => {
  const seed = ensureSeed()
  const report = await withBesiegedServer(stack, (siege) => besiege(siege, { ...all, seed }))
  printSiege(seed, report)
  expect(report.requests).toBeGreaterThan(300)
  expect(checkSiege(report)).toEqual([])
})

test('hostile grammars of one key do not stop the engine for others', { timeout: 3_600_000 }, async () => {
  const { failures, restarts, ...report } = await besiegeEngine(stack, makeGrammars(100))
  process.stdout.write(`100 hostile grammars: ${JSON.stringify(report)}\n`)
  expect({ failures, restarts }).toEqual({ failures: [], restarts: 0 })
  expect(report.hostileWorstMs.structured - report.calmWorstMs.structured).toBeLessThanOrEqual(grammarMs)
})
