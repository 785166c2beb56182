import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { errors, findError } from './table.ts'

test('a code is a short word, and has one row in the table', () => {
  for (const [name, { code, status }] of Object.entries(errors)) {
    expect(code).toBe(name)
    expect(code).toMatch(/^[a-z]+(_[a-z]+){0,4}$/)
    expect(status).toBeGreaterThanOrEqual(400)
    expect(findError(code)).toBe(errors[name as keyof typeof errors])
  }
})

test('docs/errors.md has a row for each error, and for no other', () => {
  const page = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8')
  const [, own = ''] = page.split('## Errors of the interface')
  const rows = [...own.split('## ')[0]!.matchAll(/^\| `(\w+)` \| (\d+) \| (.*) \| .* \|$/gm)]
  const documented = rows.map(([, code, status, sentence]) => `${code} ${status} ${sentence}`)
  const declared = Object.values(errors).map(({ code, status, sentence }) => `${code} ${status} ${sentence}`)
  expect(documented.toSorted()).toEqual(declared.toSorted())
})
