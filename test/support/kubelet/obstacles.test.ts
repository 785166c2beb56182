import { expect, test } from 'vitest'
import { findObstacle, type Machine } from './obstacles.ts'

const able: Machine = {
  platform: 'linux',
  user: 0,
  missing: [],
  hasKernelLog: true,
  controlGroups: '8:pids:/\n4:memory:/jobs/1\n0::/\n',
}

test.each<[string, Partial<Machine>, string | undefined]>([
  ['a machine with everything', {}, undefined],
  ['memory beside another controller', { controlGroups: '3:cpuset,memory:/\n0::/\n' }, undefined],
  ['another system', { platform: 'darwin' }, 'It needs Linux.'],
  ['an ordinary user', { user: 1000 }, 'It needs root.'],
  ['missing commands', { missing: ['ip', 'go'] }, 'It needs these commands, which are missing: ip, go.'],
  ['no log of the kernel', { hasKernelLog: false }, 'It needs /dev/kmsg.'],
  ['control groups of version 2', { controlGroups: '0::/user.slice\n' }, 'It needs control groups of version 1.'],
])('%s', (_, changes, sentence) => {
  expect(findObstacle({ ...able, ...changes })).toBe(sentence)
})
