import { expect, test } from 'vitest'
import { describeMissing } from './system-check.ts'

test('only the parts that do not work are named', () => {
  const parts = {
    postgres: { ok: true, detail: 'version 18.4' },
    status_server: { ok: false, detail: 'no pod' },
    engines: { ok: false, detail: '0 of 1 ready' },
  }
  expect(describeMissing({ ok: false, parts })).toBe('status server (no pod), engines (0 of 1 ready)')
  expect(describeMissing(undefined)).toBe('the apiserver')
})
