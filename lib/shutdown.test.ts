import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'

const folder = JSON.stringify(path.join(import.meta.dirname, '/'))

/** Runs a process that gets SIGTERM as soon as it is ready. Returns its exit code and the lines of its log. */
async function shutDown(close: string, timeoutMs: number) {
  const script = `
    const { onShutdown } = await import(${folder} + 'shutdown.ts')
    const { createLogger } = await import(${folder} + 'log.ts')
    setInterval(() => {}, 1_000)
    onShutdown(createLogger('test', 'error'), ${close}, ${timeoutMs})
    process.kill(process.pid, 'SIGTERM')`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [printed, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  const lines = printed.split('\n').filter(Boolean)
  return { code: code as unknown, logged: lines.map((line) => JSON.parse(line) as unknown) }
}

test('a shutdown that takes too long ends with 1, and logs what has not ended', async () => {
  const close = `async (beginStep) => { beginStep('requests'); beginStep('usage'); await new Promise(() => {}) }`
  const { code, logged } = await shutDown(close, 50)
  expect(code).toBe(1)
  expect(logged).toEqual([expect.objectContaining({ msg: 'shutdown took too long', step: 'usage', timeoutMs: 50 })])
})

test('a shutdown that fails ends with 1, and logs where', async () => {
  const { code, logged } = await shutDown(`async (beginStep) => { beginStep('usage'); throw new Error('no') }`, 5_000)
  expect(code).toBe(1)
  expect(logged).toEqual([expect.objectContaining({ msg: 'shutdown failed', step: 'usage' })])
})

test('a shutdown that ends in time ends with 0, and logs no error', async () => {
  expect(await shutDown('async () => {}', 5_000)).toEqual({ code: 0, logged: [] })
})
