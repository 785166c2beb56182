import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'
import { judgePython, minGoMinor } from './requirements.mjs'

const answer = (version: string) => ({ code: 0, stdout: `${version}\n`, stderr: '' })

test.each([
  ['3.11.7', { version: '3.11.7' }],
  ['3.13.0', { version: '3.13.0' }],
  ['3.10.12', { error: 'python3 is 3.10.12' }],
  ['3.14.1', { error: 'python3 is 3.14.1' }],
])('Python %s', (version, judged) => {
  expect(judgePython('python3', answer(version))).toEqual(judged)
})

test('a Python without venv is named, and a program that is not Python is ignored', () => {
  const lacksVenv = { code: 1, stdout: '', stderr: "ModuleNotFoundError: No module named 'ensurepip'" }
  expect(judgePython('python3', lacksVenv)).toEqual({ error: 'python3 lacks venv' })
  expect(judgePython('python3', { code: 127, stdout: '', stderr: 'not found' })).toEqual({})
})

test('the minor version of Go is the one in go.mod', async () => {
  const goMod = await readFile(path.join(import.meta.dirname, '..', 'go', 'go.mod'), 'utf8')
  expect(/^go 1\.(\d+)/m.exec(goMod)?.[1]).toBe(String(minGoMinor))
})
