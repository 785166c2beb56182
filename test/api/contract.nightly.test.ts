import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createPool, type Pool } from '../../db/pool.ts'
import { createLogger } from '../../lib/log.ts'
import { ensureClientPython } from '../support/client-python.ts'
import { addKey } from '../support/api-server.ts'
import { createRest } from '../support/rest.ts'
import { chooseCases, countRuns } from '../support/random-cases.ts'
import { useOwnStack } from '../support/api-server.ts'

const stack = await useOwnStack()
const settings = path.join(import.meta.dirname, '..', 'clients', 'schemathesis')
// For each operation, and for sequences of operations. Cases for every bound and every enum are always added.
const { seed, numRuns: examples } = chooseCases(2)
const { numRuns: sequences } = chooseCases(4)
const minCases = 1_000
const timeout = 1_800_000 * countRuns()

let python: string
let pool: Pool
beforeAll(async () => {
  pool = createPool(stack.databaseUrl, createLogger('test', 'silent'), 1)
  python = await ensureClientPython('schemathesis')
}, 300_000)
afterAll(() => pool.end())

/** The paths of the OpenAPI document. */
async function choosePaths(): Promise<string[]> {
  const response = await fetch(`${stack.url}/openapi.json`)
  const { paths } = (await response.json()) as { paths: object }
  return Object.keys(paths)
}

/** Runs schemathesis. Returns its output and the number of generated requests. */
async function runSchemathesis(folder: string, things: Record<string, string>, args: string[]) {
  const config = await writeConfig(folder)
  const command = ['-m', 'schemathesis.cli', '--config-file', config, 'run', `${stack.url}/openapi.json`]
  const text = await new Promise<string>((resolve) => {
    const hooks = { SCHEMATHESIS_HOOKS: path.join(settings, 'hooks.py'), THINGS: JSON.stringify(things) }
    const env = { ...process.env, ...hooks, NO_COLOR: '1', PYTHONDONTWRITEBYTECODE: '1' }
    const options = { cwd: folder, maxBuffer: 64 * 1024 * 1024, env }
    execFile(python, [...command, ...args], options, (_, stdout, stderr) => resolve(stdout + stderr))
  })
  return { text, cases: Number(/(\d+) generated/.exec(text)?.[1]) }
}

/** The command line has one number for all phases. The file has a number for each phase. */
async function writeConfig(folder: string): Promise<string> {
  const text = await readFile(path.join(settings, 'schemathesis.toml'), 'utf8')
  const config = path.join(folder, 'schemathesis.toml')
  await writeFile(config, text.replace(/(?<=max-examples = )\d+/, String(sequences)))
  return config
}

test('for any request, the API answers as its OpenAPI document says', { timeout }, async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'trainyard-contract-'))
  try {
    // The generated requests may revoke keys, so they do not use the key of the other tests.
    const key = await addKey(pool, `contract-${randomUUID()}`, 'admin')
    const rest = createRest(stack, key)
    const model = await rest.createModel()
    const job = await rest.startJob(model.id, [])
    const things = { base_model: stack.baseModel, model_id: model.id, training_job_id: job, entity: model.entity }
    const { text, cases } = await runSchemathesis(folder, things, [
      '--header',
      `Authorization: Bearer ${key}`,
      '--phases',
      'examples,coverage,fuzzing,stateful',
      '--max-examples',
      String(examples),
      '--seed',
      String(seed),
      ...(await choosePaths()).flatMap((route) => ['--include-path', route]),
    ])
    expect(text).not.toContain('= FAILURES =')
    expect(text).not.toContain('= ERRORS =')
    expect(cases).toBeGreaterThanOrEqual(minCases)
  } finally {
    await rm(folder, { recursive: true })
  }
})
