import { appendFile, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readLog, readTail, rotateLog, type LogOptions } from './logs.ts'

let run: string

beforeEach(async () => {
  run = await mkdtemp(path.join(tmpdir(), 'trainyard-logs-'))
  await writeFile(path.join(run, 'log.1'), 'one\ntwo\n')
  await writeFile(path.join(run, 'log'), 'three\nfour\n')
})

afterEach(() => rm(run, { recursive: true }))

async function read(options: Partial<LogOptions>): Promise<string> {
  let text = ''
  for await (const chunk of readLog(run, { follow: false, ...options }, () => false)) text += chunk.toString()
  return text
}

test.each([
  ['all of it', {}, 'one\ntwo\nthree\nfour\n'],
  ['no lines', { tailLines: 0 }, ''],
  ['the last line', { tailLines: 1 }, 'four\n'],
  ['all of the current file', { tailLines: 2 }, 'three\nfour\n'],
  ['some of the older file', { tailLines: 3 }, 'two\nthree\nfour\n'],
  ['more lines than exist', { tailLines: 99 }, 'one\ntwo\nthree\nfour\n'],
  ['a few bytes', { limitBytes: 5 }, 'one\nt'],
])('reads %s', async (_name, options, wanted) => {
  expect(await read(options)).toBe(wanted)
})

test('a last line without its end counts as a line', async () => {
  await appendFile(path.join(run, 'log'), 'five')
  expect(await readTail(run, 2)).toBe('four\nfive')
})

test('the tail of a long file is found across its blocks', async () => {
  const lines = Array.from({ length: 30_000 }, (_, index) => `line ${index}\n`)
  await writeFile(path.join(run, 'log'), lines.join(''))
  expect(await readTail(run, 20_000)).toBe(lines.slice(-20_000).join(''))
})

test('follows written lines, also after a rotation, until the run ends', async () => {
  let running = true
  let text = ''
  setTimeout(() => void appendFile(path.join(run, 'log'), 'five\n'), 100)
  for await (const chunk of readLog(run, { follow: true, tailLines: 0 }, () => running)) {
    text += chunk.toString()
    if (text.endsWith('five\n')) {
      await truncate(path.join(run, 'log'))
      setTimeout(() => void appendFile(path.join(run, 'log'), 'six\n'), 300)
    }
    running = !text.endsWith('six\n')
  }
  expect(text).toBe('five\nsix\n')
}, 10_000)

test('a log is rotated only when it is long', async () => {
  await rotateLog(run)
  expect(await readTail(run, 1)).toBe('four\n')
  await writeFile(path.join(run, 'log'), `${'x'.repeat(11 * 1024 * 1024)}\n`)
  await rotateLog(run)
  await appendFile(path.join(run, 'log'), 'new\n')
  expect((await read({ tailLines: 2 })).length).toBe(11 * 1024 * 1024 + 1 + 4)
})
