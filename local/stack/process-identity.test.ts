import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { identifyProcess, isRunning, parseStat, signalProcess } from './process-identity.ts'

test('a name with blanks and brackets does not shift the fields', () => {
  const numbers = Array.from({ length: 18 }, (_, index) => index + 4).join(' ')
  expect(parseStat(`42 (odd) name) S ${numbers} 777 0`)).toEqual({ state: 'S', startTicks: '777' })
})

test('a process is known by its start time as well as by its id', async () => {
  const child = spawn('sleep', ['60'])
  await once(child, 'spawn')
  const identity = identifyProcess(child.pid!)!
  expect(isRunning(identity)).toBe(true)
  expect(isRunning({ ...identity, startedAt: 'an earlier boot:1' })).toBe(false)
  signalProcess(identity, 'SIGKILL')
  await once(child, 'exit')
  expect(isRunning(identity)).toBe(false)
})
