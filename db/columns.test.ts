import { expect, test } from 'vitest'
import { column, insertRow, pickColumns, readRecords, selectColumns } from './columns.ts'

const columns = {
  id: column<string>('id', 'uuid'),
  modelId: column<string>('model_id', 'uuid'),
  warnings: column<string[]>('creation_warnings', 'jsonb'),
  config: column<object | null>('config', 'json'),
  flags: column<string[]>('flags', 'text[]'),
}

test('a SELECT names each column after its field', () => {
  expect(selectColumns(pickColumns(columns, 'warnings', 'id', 'modelId'), 'j')).toBe(
    'j.creation_warnings AS "warnings", j.id, j.model_id AS "modelId"',
  )
})

test('an INSERT has a parameter for each column; JSON is text, an array of Postgres an array, null is null', () => {
  const row = { id: 'a', modelId: 'b', warnings: ['c'], config: null, flags: ['d'] }
  expect(insertRow(columns, row)).toEqual({
    names: 'id, model_id, creation_warnings, config, flags',
    parameters: '$1, $2, $3, $4, $5',
    values: ['a', 'b', '["c"]', null, ['d']],
  })
})

test('rows of a JSON list are inserted by their fields', () => {
  expect(readRecords(pickColumns(columns, 'modelId', 'config'), 'g')).toEqual({
    names: 'model_id, config',
    fields: 'g."modelId", g."config"',
    definition: '"modelId" uuid, "config" json',
  })
})
