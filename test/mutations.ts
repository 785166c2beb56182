import { rm } from 'node:fs/promises'
import path from 'node:path'
import { mutations } from './mutations/list.ts'
import { copyCheckout } from './mutations/copy-checkout.ts'
import { findStale } from './mutations/find-stale.ts'
import { applyMutation, type Mutation } from './mutations/mutation.ts'
import { TestRunner } from './mutations/test-runner.ts'

// `npm run test:mutations [-- WORD...]` runs the mutations whose file, test or fault contains one of the words, or all.
// A mutation changes one text in a copy of this checkout. The test file that it names must then fail, and must pass
// without the change: first, all of these files run on the unchanged code. With `--check`, no test runs: the list is
// compared with the checkout.

const words = process.argv.slice(2)
const isWanted = (mutation: Mutation) =>
  words.length === 0 || words.some((word) => JSON.stringify(mutation).includes(word))

async function checkList(): Promise<void> {
  const stale = await findStale(path.join(import.meta.dirname, '..'), mutations)
  for (const sentence of stale) console.log(sentence)
  process.exitCode = stale.length > 0 ? 1 : 0
}

async function runWanted(wanted: Mutation[]): Promise<void> {
  const root = await copyCheckout()
  console.log(`${wanted.length} mutations, in ${root}`)
  const stale = await findStale(root, wanted)
  if (stale.length > 0) throw new Error(stale.join('\n'))
  const survivors = await findSurvivors(root, wanted)
  console.log(`\n${wanted.length - survivors.length} caught, ${survivors.length} survived`)
  if (survivors.length === 0) await rm(root, { recursive: true })
  else console.log(`What the tests printed is in ${root}/output.log.`)
  process.exitCode = survivors.length > 0 ? 1 : 0
}

async function findSurvivors(root: string, wanted: Mutation[]): Promise<Mutation[]> {
  const runner = new TestRunner(root)
  const passing = await runner.findPassing(new Set(wanted.map(({ test }) => test)))
  const survivors: Mutation[] = []
  for (const mutation of wanted) {
    const startMs = performance.now()
    const passesWithout = passing.has(mutation.test)
    const restore = await applyMutation(root, mutation)
    const isCaught = passesWithout && (await runner.fails(mutation.test))
    await restore()
    if (!isCaught) survivors.push(mutation)
    const seconds = ((performance.now() - startMs) / 1_000).toFixed(0)
    const why = passesWithout ? '' : ' (the test fails without it)'
    console.log(`${isCaught ? '✓' : '✗'} ${seconds} s  ${mutation.fault}: ${mutation.file} by ${mutation.test}${why}`)
  }
  return survivors
}

if (words[0] === '--check') await checkList()
else await runWanted(mutations.filter(isWanted))
