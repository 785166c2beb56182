import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { useStack } from '../support/stack.ts'

const stack = useStack()

const runAdmin = (...args: string[]) =>
  promisify(execFile)(process.execPath, ['apiserver/accounts/admin/main.ts', ...args], {
    env: { ...process.env, DATABASE_URL: stack.databaseUrl },
  })

/** The command of `helm test`. */
const runTest = (...args: string[]) => runAdmin('test', ...args)

test('an installation is tested with a chat and a job, and nothing of the test is left', async () => {
  const { stdout } = await runTest('--url', stack.url, '--train')
  const [first, second, third] = stdout.trim().split('\n')
  expect(first).toMatch(new RegExp(`^${stack.baseModel} answers: ".+"$`))
  const [, entity] = /^a job trained (test-[0-9a-f]{8})\/test\/colours in \d+ s$/.exec(second ?? '') ?? []
  expect(third).toMatch(new RegExp(`^${entity}/test/colours answers: ".+"$`))
  const keys = await runAdmin('key', entity!, '--list')
  expect(keys.stdout).toMatch(/ revoked 2/)
  expect(keys.stdout.trim().split('\n')).toHaveLength(2)
})

test('a test of an installation without the base model fails with the answer of the server', async () => {
  await expect(runTest('--url', stack.url, '--base-model', 'none/such')).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^POST \/v1\/chat\/completions: 404 /) as string,
  })
})
