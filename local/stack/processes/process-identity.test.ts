import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { identifyProcess, isRunning, signalProcess } from './process-identity.ts'

test('a process is identified by its id and its start time', async () => {
  const child = spawn('sleep', ['60'])
  await once(child, 'spawn')
  const identity = identifyProcess(child.pid!)!
  expect(isRunning(identity)).toBe(true)
  expect(isRunning({ ...identity, startedAt: 'an earlier boot:1' })).toBe(false)
  signalProcess(identity, 'SIGKILL')
  await once(child, 'exit')
  expect(isRunning(identity)).toBe(false)
})
