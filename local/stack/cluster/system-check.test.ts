import { expect, test } from 'vitest'
import { describeMissing } from './system-check.ts'

test('only the parts that do not work are named', () => {
  const parts = {
    postgres: { ok: true, detail: 'version 18.4' },
    status_server: { ok: false, detail: 'no pod' },
    artifact_store: { ok: false, detail: 'does not respond as expected', cause: 'disk full' },
    engines: { ok: false, detail: '0 of 1 ready' },
  }
  expect(describeMissing({ ok: false, parts })).toBe(
    'status server (no pod), artifact store (disk full), engines (0 of 1 ready)',
  )
  expect(describeMissing(undefined)).toBe('the apiserver')
})
