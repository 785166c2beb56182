import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { createLogger } from '../../lib/log.ts'
import { eventually } from '../../test/support/eventually.ts'
import { watchLiveness } from './liveness.ts'

const answering = "process.on('message', () => process.send({ alive: true }))"

test('a process that answers continues, and one that stops answering is killed', async () => {
  const child = spawn(process.execPath, ['-e', answering], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  let answers = 0
  child.on('message', () => answers++)
  child.send({ areYouAlive: true })
  await once(child, 'message')
  watchLiveness(child, createLogger('test', 'silent'), { periodMs: 100, maxMissed: 10 })
  await eventually(() => expect(answers).toBeGreaterThan(12))
  const ended = once(child, 'exit')
  child.kill('SIGSTOP')
  expect(await ended).toEqual([null, 'SIGKILL'])
})
