import { expect, test } from 'vitest'
import { JsonText } from '../../../lib/json/json-text.ts'
import { buildRow } from './rows.ts'

const project = { number: 7, entity: 'e', name: 'p', id: 'e/p' }
const json = (text: string) => new JsonText(Buffer.from(text))
const endedAt = '2026-11-21T10:00:00.000000Z'

test.each([
  ['no counts', '{}', false],
  ['counts without errors', '{"status_counts":{"success":1,"error":0}}', false],
  ['counts of errors', '{"status_counts": {"success": 1, "error" : 2}}', true],
  ['errors with another type', '{"error":3,"usage":{"error":1}}', false],
  ['counts that are not numbers', '{"status_counts":{"error":"many"}}', false],
  ['another value instead of counts', '{"status_counts":null,"error":1}', false],
  ['one tenth', '{"status_counts":{"error":0.1}}', true],
])('a summary with %s', (_, summary, expected) => {
  const { end } = buildRow(project, { id: 'a', end: { endedAt, output: null, summary: json(summary) } })
  expect(end?.descendantErrors).toBe(expected)
})

test('sizes are those of the texts, and missing payloads have none', () => {
  const end = { endedAt, output: json('"é"'), summary: json('{}') }
  expect(buildRow(project, { id: '00f067aa0ba902b7', end })).toMatchObject({
    week: -1,
    project: 7,
    id: '00f067aa0ba902b7',
    start: undefined,
    startSize: 0,
    endSize: 6,
    spilled: undefined,
  })
})
