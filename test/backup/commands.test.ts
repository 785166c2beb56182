import { chmod, mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseEnv } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { runChild } from '../../local/install/run-child.ts'
import { createRest, sampleGroup, type Rest } from '../support/rest.ts'

const repository = path.resolve(import.meta.dirname, '../..')

/** Runs `npm run COMMAND` as a user does, in a state folder of its own. Returns what it prints. */
async function npmRun(state: string, command: string, ...args: string[]): Promise<string> {
  const env = { ...process.env, TRAINYARD_STATE: state, TRAINYARD_PORT: '0' }
  const { code, stdout, tail } = await runChild('npm', ['run', command, '--', ...args], { cwd: repository, env })
  if (code !== 0) throw new Error(`npm run ${command}: ${tail}`)
  return stdout
}

/** Brings up the stack of a folder. */
async function bringUp(state: string): Promise<Rest> {
  await npmRun(state, 'up')
  const env = parseEnv(await readFile(path.join(state, 'env'), 'utf8')) as Record<string, string>
  const { TRAINYARD_URL: url, TRAINYARD_API_KEY: apiKey, TRAINYARD_BASE_MODEL: baseModel } = env
  return createRest({ url: url!, apiKey: apiKey!, baseModel: baseModel! })
}

/** A state folder whose stack ends with the test. */
async function makeState(): Promise<string> {
  const state = await mkdtemp(path.join(tmpdir(), 'trainyard-state-'))
  await chmod(state, 0o755) // Postgres runs as another user when we are root.
  onTestFinished(async () => {
    await npmRun(state, 'down')
    await rm(state, { recursive: true, force: true })
  })
  return state
}

const prompt = 'Name a colour.'

async function train(rest: Rest, { id, address }: { id: string; address: string }): Promise<number[]> {
  const group = await sampleGroup(rest, address, prompt, (_, index) => index % 2)
  const events = await rest.waitForEnd(await rest.startJob(id, [group]))
  expect(events.at(-1)?.type).toBe('training_ended')
  return (await rest.listCheckpoints(id)).map(({ step }) => step)
}

const ask = async (rest: Rest, model: string) =>
  (await rest.sample(model, prompt, { temperature: 0 }))[0]!.message.content

test('a stack is backed up while it runs, restored into an empty folder, and trains on', async () => {
  const source = await makeState()
  const before = await bringUp(source)
  const model = await before.createModel()
  expect(await train(before, model)).toEqual([1])
  const answer = await ask(before, model.address)
  const jobs = await before.listAll('/v1/preview/training-jobs')

  const folder = path.join(source, 'saved')
  expect(await npmRun(source, 'backup', folder)).toMatch(/backup done: \d+ objects/)
  expect((await stat(folder)).mode & 0o077).toBe(0)
  await expect(npmRun(source, 'backup', folder)).rejects.toThrow('is not empty')
  await expect(npmRun(source, 'restore', folder)).rejects.toThrow('Set TRAINYARD_STATE to a new folder')
  // Two stacks do not fit into a small machine.
  await npmRun(source, 'down')

  const target = await makeState()
  expect(await npmRun(target, 'restore', folder)).toMatch(/restore done: \d+ objects/)
  const after = await bringUp(target)
  expect(await after.listAll('/v1/preview/training-jobs')).toEqual(jobs)
  expect(await ask(after, model.address)).toBe(answer)
  expect(await train(after, model)).toEqual([1, 2])
  await npmRun(target, 'garbage', 'claim')
})
