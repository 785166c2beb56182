import { spawnSync } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Stryker } from '@stryker-mutator/core'
import { parse } from 'yaml'
import { copyCheckout } from './support/copy-checkout.ts'

// `npm run test:mutations [-- FOLDER...]` changes the code of these folders, and runs the tests that must then fail. Stryker
// mutates the TypeScript that has a unit test beside it. The mutations of by-hand.yaml are in what it does not reach: SQL,
// YAML and Python. Without a folder, all of these run, and Stryker on the nightly folders: on all, it takes hours.
const nightly = ['artifacts', 'crds', 'db', 'operator']

interface Mutation {
  fault: string
  file: string
  find: string
  replace: string
  test: string
}

// Measured on a folder of pure plans and on one of HTTP: BENCHMARKS.md.
const minScorePercent = 70

const root = path.join(import.meta.dirname, '..')
const folders = process.argv.slice(2)
const isIn = (file: string, wanted: readonly string[]) =>
  wanted.some((prefix) => file === prefix || file.startsWith(`${prefix.replace(/\/$/, '')}/`))

async function runStryker(files: string[]): Promise<void> {
  if (files.length === 0) return
  const stryker = new Stryker({
    mutate: files,
    testRunner: 'vitest',
    vitest: { configFile: 'test/mutations/unit.vitest.ts' },
    // TypeScript 7 has no programs that could rewrite it, and nothing here compiles.
    tsconfigFile: 'none',
    tempDirName: '.trainyard/stryker',
    ignorePatterns: ['.trainyard'],
    // A mutant of what a module computes at its load would run all tests of its folder.
    ignoreStatic: true,
    // A later run tries again only the files that have changed, or whose tests have.
    incremental: true,
    incrementalFile: `.trainyard/mutations/${folders.join('+').replaceAll('/', '-') || 'nightly'}.json`,
    reporters: ['progress-append-only', 'clear-text'],
    clearTextReporter: { logTests: false, reportTests: false },
    thresholds: { break: minScorePercent },
  })
  await stryker.runMutationTest()
}

async function runByHand(mutations: Mutation[]): Promise<void> {
  if (mutations.length === 0) return
  const copy = await copyCheckout()
  // The files of a folder have one stack.
  const groups = Map.groupBy(new Set(mutations.map(({ test }) => test)), (test) => path.dirname(test).split('/')[1])
  for (const tests of groups.values()) {
    if (!passes(copy, tests)) throw new Error(`one of these fails without a mutation: ${tests.join(' ')}`)
  }
  let survived = 0
  for (const mutation of mutations) {
    const isCaught = await isCaughtIn(copy, mutation)
    console.log(`${isCaught ? '✓' : '✗'} ${mutation.fault}: ${mutation.file} by ${mutation.test}`)
    if (!isCaught) survived++
  }
  await rm(copy, { recursive: true })
  console.log(`${mutations.length - survived} by hand caught, ${survived} survived`)
  if (survived > 0) process.exitCode = 1
}

async function isCaughtIn(copy: string, { file, find, replace, test }: Mutation): Promise<boolean> {
  const prefix = path.join(copy, file)
  const text = await readFile(prefix, 'utf8')
  const [before, after, ...more] = text.split(find)
  if (after === undefined || more.length > 0) throw new Error(`${file} does not have this once: ${find}`)
  await writeFile(prefix, before + replace + after)
  const isCaught = !passes(copy, [test])
  await writeFile(prefix, text)
  return isCaught
}

/** Whether test files of one project pass. One that hangs does not. */
function passes(copy: string, tests: string[]): boolean {
  const isPython = tests[0]!.endsWith('.py')
  const args = isPython
    ? ['test/python.ts', '-q', '--exitfirst', ...tests.map((test) => path.relative('trainer', test))]
    : ['node_modules/vitest/vitest.mjs', 'run', '--bail=1', ...tests]
  const timeout = 600_000 * tests.length
  return spawnSync(process.execPath, args, { cwd: copy, stdio: 'ignore', timeout }).status === 0
}

const sources = globSync('{console,lib,crds,db,artifacts,apiserver,operator,local}/**/*.test.{ts,tsx}', { cwd: root })
  .flatMap((test) => [test.replace('.test.', '.'), test.replace('.test.ts', '.tsx')])
  .filter((file) => isIn(file, folders.length > 0 ? folders : nightly) && existsSync(path.join(root, file)))
const byHand = parse(await readFile(path.join(root, 'test/mutations/by-hand.yaml'), 'utf8')) as Mutation[]
await runByHand(byHand.filter(({ file }) => folders.length === 0 || isIn(file, folders)))
await runStryker(sources)
