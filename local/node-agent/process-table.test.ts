import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { isAlive, killGroup, parseStat, signalProcess } from './process-table.ts'

test('a stat line is read though the name holds spaces and brackets', () => {
  const line = `42 (a) b (c) S 1 42 42 0 -1 0 0 0 0 0 1 2 3 4 20 0 1 0 98765 0 0\n`
  expect(parseStat(line)).toEqual({ pid: 42, startTicks: '98765', state: 'S', session: 42 })
})

test('what is no stat line is none', () => {
  expect([parseStat(''), parseStat('42 (x'), parseStat('x (y) S 1')]).toEqual([undefined, undefined, undefined])
})

test('a process is told from a later one with its number, and only the former is signalled', async () => {
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
