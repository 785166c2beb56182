import { rm, writeFile } from 'node:fs/promises'
import { totalmem } from 'node:os'
import path from 'node:path'
import { mutations } from './mutations/list.ts'
import { copyCheckout } from './mutations/copy-checkout.ts'
import { findStale } from './mutations/find-stale.ts'
import { applyMutation, type Mutation } from './mutations/mutation.ts'
import { groupBySetUp, TestRunner } from './mutations/test-runner.ts'
import { bringUpStack } from './support/global-setup.ts'

// `npm run test:mutations [-- WORD...]` runs the mutations whose file, test or fault contains one of the words, or all.
// A mutation changes one text in a copy of this checkout. The test file that it names must then fail, and must pass
// without the change: first, all of these files run on the unchanged code. With `--check`, no test runs: the list is
// compared with the checkout.

// Two mutations run at a time, each in a copy of its own: a stack waits for a good part of its start. Two stacks with an
// engine and a trainer, and their tests, take 14 GiB.
const minGibSideBySide = 16
const lanes = totalmem() >= minGibSideBySide * 2 ** 30 ? 2 : 1

const words = process.argv.slice(2)
const isWanted = (mutation: Mutation) =>
  words.length === 0 || words.some((word) => JSON.stringify(mutation).includes(word))

async function checkList(): Promise<void> {
  const stale = await findStale(path.join(import.meta.dirname, '..'), mutations)
  for (const sentence of stale) console.log(sentence)
  process.exitCode = stale.length > 0 ? 1 : 0
}

async function runWanted(wanted: Mutation[]): Promise<void> {
  const copies = await Promise.all(Array.from({ length: lanes }, copyCheckout))
  console.log(`${wanted.length} mutations, in ${copies.join(' and ')}`)
  const stale = await findStale(copies[0]!, wanted)
  if (stale.length > 0) throw new Error(stale.join('\n'))
  const survivors = await findSurvivors(copies, wanted)
  console.log(`\n${wanted.length - survivors.length} caught, ${survivors.length} survived`)
  if (survivors.length === 0) for (const root of copies) await rm(root, { recursive: true })
  else console.log('What the tests printed is in output.log in these folders.')
  process.exitCode = survivors.length > 0 ? 1 : 0
}

async function findSurvivors(copies: string[], wanted: Mutation[]): Promise<Mutation[]> {
  const passing = await findPassing(copies, new Set(wanted.map(({ test }) => test)))
  const survivors: Mutation[] = []
  const shared = wanted.some(({ test }) => isControl(test)) ? await bringUpStack(false) : undefined
  const stackFile = path.join(copies[0]!, 'stack.json')
  if (shared) await writeFile(stackFile, JSON.stringify(shared.handle), { mode: 0o600 })
  try {
    await takeInTurn(copies, wanted, async (root, mutation) => {
      const isPassing = passing.has(mutation.test)
      if (!(await isCaught({ root, stackFile }, mutation, isPassing))) survivors.push(mutation)
    })
  } finally {
    await shared?.tearDown()
  }
  return survivors
}

/** Returns those of the test files that pass on the unchanged code. */
async function findPassing(copies: string[], tests: ReadonlySet<string>): Promise<Set<string>> {
  const passing = new Set<string>()
  await takeInTurn(copies, groupBySetUp(tests), async (root, files) => {
    for (const file of await new TestRunner(root).findPassing(files)) passing.add(file)
  })
  return passing
}

/** Each copy takes the next of the waiting pieces of work, until none is left. */
async function takeInTurn<T>(copies: string[], waiting: T[], work: (root: string, piece: T) => Promise<void>) {
  const pieces = waiting.values()
  const runLane = async (root: string) => {
    for (const piece of pieces) await work(root, piece)
  }
  await Promise.all(copies.map(runLane))
}

interface Place {
  /** The copy to change. */
  root: string
  stackFile: string
}

async function isCaught({ root, stackFile }: Place, mutation: Mutation, passesWithout: boolean): Promise<boolean> {
  const startMs = performance.now()
  const restore = await applyMutation(root, mutation)
  const caught = passesWithout && (await findsFault(new TestRunner(root), mutation.test, stackFile))
  await restore()
  const seconds = ((performance.now() - startMs) / 1_000).toFixed(0)
  const why = passesWithout ? '' : ' (the test fails without it)'
  console.log(`${caught ? '✓' : '✗'} ${seconds} s  ${mutation.fault}: ${mutation.file} by ${mutation.test}${why}`)
  return caught
}

const isControl = (test: string) => /^test\/(control|clients\/tracing)\//.test(test)

/**
 * A stack takes most of a control test's time, so these tests run on a shared one first. Its own pods run the code
 * without the fault: a test that passes there runs again on a stack of its own.
 */
async function findsFault(runner: TestRunner, test: string, stackFile: string): Promise<boolean> {
  return (isControl(test) && (await runner.fails(test, stackFile))) || runner.fails(test)
}

if (words[0] === '--check') await checkList()
else await runWanted(mutations.filter(isWanted))
