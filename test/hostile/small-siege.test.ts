import { expect, test } from 'vitest'
import { withBesiegedServer } from '../hostile/besieged-server.ts'
import { checkSiege, printSiege } from '../hostile/outcome.ts'
import { besiege } from '../hostile/siege.ts'
import { ensureSeed } from '../support/random-cases.ts'
import { useStack } from '../support/stack.ts'

const stack = useStack()
// `npm test -- hostile` sends all of them.
const some = { known: 6, made: 5, eightfold: 1, mixed: 1, calmMs: 3_000 }

test('hostile requests of one key do not stop the service for others', { timeout: 900_000 }, async () => {
  const seed = ensureSeed()
  const report = await withBesiegedServer(stack, (siege) => besiege(siege, { ...some, seed }))
  printSiege(seed, report)
  expect(checkSiege(report)).toEqual([])
})
