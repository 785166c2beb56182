import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parseStat } from '../../process-stat.ts'
import { isAlive, killGroup, signalProcess } from './process-table.ts'

test('a process is distinguished from a later one with the same id, and only the former gets a signal', async () => {
  const child = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' })
  await once(child, 'spawn')
  const ended = once(child, 'exit')
  const id = parseStat(readFileSync(`/proc/${child.pid}/stat`, 'utf8'))!
  const other = { ...id, startTicks: '1' }
  signalProcess(other, 'SIGKILL')
  killGroup(other)
  expect([isAlive(id), isAlive(other)]).toEqual([true, false])
  killGroup(id)
  expect(await ended).toEqual([null, 'SIGKILL'])
  expect(isAlive(id)).toBe(false)
})
