import { expect, test } from 'vitest'
import { presentReport } from './present.ts'

const checkedAt = new Date('2026-01-31T12:00:00Z')
const report = {
  ok: false,
  checkedAt,
  parts: { postgres: { ok: false, detail: 'away', forAdmins: { cause: 'connect ECONNREFUSED 10.0.0.7:5432' } } },
}

test('only admins see versions and causes', () => {
  const postgres = { ok: false, detail: 'away' }
  const shown = { ok: false, checked_at: checkedAt.toISOString(), parts: { postgres } }
  expect(presentReport(report, 'read')).toEqual(shown)
  expect(presentReport(report, 'member')).toEqual(shown)
  const cause = 'connect ECONNREFUSED 10.0.0.7:5432'
  expect(presentReport(report, 'admin')).toEqual({ ...shown, parts: { postgres: { ...postgres, cause } } })
})
