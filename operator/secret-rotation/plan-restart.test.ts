import { expect, test } from 'vitest'
import { planRestart, type RestartFacts } from './plan-restart.ts'

const now = new Date('2026-11-24T12:00:00Z')
const minutesAgo = (minutes: number) => new Date(now.getTime() - minutes * 60_000).toISOString()

test.each<[string, Partial<RestartFacts>, 'record' | 'restart' | undefined]>([
  ['a new Deployment is recorded', {}, 'record'],
  ['nothing is done while nothing changes', { recorded: 'a' }, undefined],
  ['a change replaces pods', { recorded: 'a', digest: 'b' }, 'restart'],
  ['a change while no operator ran replaces pods', { recorded: 'a', digest: 'b', digestAtStart: 'b' }, 'restart'],
  ['a change right after the start replaces pods', { digest: 'b' }, 'restart'],
  ['another view right after a restart waits', { recorded: 'b', restartedAt: minutesAgo(2) }, undefined],
  ['a change long after a restart replaces pods', { recorded: 'b', restartedAt: minutesAgo(4) }, 'restart'],
  ['a time that nobody can read delays nothing', { recorded: 'b', restartedAt: 'now' }, 'restart'],
])('%s', (_, facts, wanted) => {
  const same = { recorded: undefined, restartedAt: undefined, digest: 'a', digestAtStart: 'a', now }
  expect(planRestart({ ...same, ...facts })).toBe(wanted)
})
