import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findExecutable } from './find-programs.ts'
import { findPython } from './python.ts'

let root: string

/** Writes programs into a folder of their own, which it returns. */
async function makeFolder(name: string, programs: Record<string, string>): Promise<string> {
  const folder = path.join(root, name)
  await mkdir(folder)
  for (const [program, script] of Object.entries(programs)) {
    await writeFile(path.join(folder, program), `#!/bin/sh\n${script}\n`)
    await chmod(path.join(folder, program), 0o755)
  }
  return folder
}

beforeAll(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'find-programs-'))
})
afterAll(() => rm(root, { recursive: true }))

test('a program is the first executable file of its name, with its whole path', async () => {
  const first = await makeFolder('first', { other: '' })
  await mkdir(path.join(first, 'chromium'))
  const second = await makeFolder('second', { chromium: '' })
  const third = await makeFolder('third', { chromium: '' })
  const folders = [path.join(root, 'none'), first, path.relative(process.cwd(), second), third]
  expect(await findExecutable('chromium', folders)).toBe(path.join(second, 'chromium'))
  expect(await findExecutable('kubectl', folders)).toBeUndefined()
})

test('a path is looked up in no folder', async () => {
  const folder = await makeFolder('paths', { chromium: '' })
  const file = path.join(folder, 'chromium')
  expect(await findExecutable(file, [])).toBe(file)
  expect(await findExecutable(path.relative(process.cwd(), file), [])).toBe(file)
  expect(await findExecutable(path.join(folder, 'none'), [folder])).toBeUndefined()
})

test('a Python is its path, because uv takes a name for a version and looks for others of it', async () => {
  const folder = await makeFolder('pythons', { 'python3.12': 'echo 3.12.4' })
  const found = await findPython([folder], new AbortController().signal)
  expect(found).toEqual({ command: path.join(folder, 'python3.12'), version: '3.12.4' })
})
