import { expect, test } from 'vitest'
import { describeKeyState } from './key-state.ts'

const [past, future] = ['2026-01-01T00:00:00Z', '2026-01-03T12:00:00Z']
const key = { revoked_at: null, expires_at: null, replaced_by: null }

test.each([
  [{}, 'works'],
  [{ expires_at: future }, 'works, ends in 2 d 12 h'],
  [{ expires_at: future, replaced_by: 'x' }, 'replaced, ends in 2 d 12 h'],
  [{ expires_at: past }, 'expired'],
  [{ expires_at: future, revoked_at: past }, 'revoked'],
])('a key with %o: %s', (changes, state) => {
  expect(describeKeyState({ ...key, ...changes }, Date.parse('2026-01-01T00:00:00Z'))).toBe(state)
})
