import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { allLimits, type Limit } from '../accounts/limits/table.ts'
import { errors, findError, limitErrors } from './table.ts'

const all = { ...errors, ...limitErrors }

test('a code is a short word, and has one row in the table', () => {
  for (const [name, { code, status }] of Object.entries(all)) {
    expect(code).toBe(name)
    expect(code).toMatch(/^[a-z]+(_[a-z]+){0,4}$/)
    expect(status).toBeGreaterThanOrEqual(400)
    if (name in errors) expect(findError(code)).toBe(errors[name as keyof typeof errors])
  }
})

test('docs/errors.md has a row for each error, and for no other', () => {
  const page = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8')
  const [, own = ''] = page.split('## Errors of the interface')
  const rows = [...own.split('## ')[0]!.matchAll(/^\| `(\w+)` \| (\d+) \| (.*) \| .* \|$/gm)]
  const documented = rows.map(([, code, status, sentence]) => `${code} ${status} ${sentence}`)
  const declared = Object.values(all).map(({ code, status, sentence }) => `${code} ${status} ${sentence}`)
  expect(documented.toSorted()).toEqual(declared.toSorted())
})

test('every error 429 or 503 is that of a limit', () => {
  const rows = Object.values<Limit>(allLimits)
  const ofLimits = new Set(rows.flatMap(({ error, otherError }) => [error?.code, otherError?.code]))
  const codes = Object.values(all).flatMap(({ code, status }) => (status === 429 || status === 503 ? [code] : []))
  expect(codes.filter((code) => !ofLimits.has(code))).toEqual([])
})
