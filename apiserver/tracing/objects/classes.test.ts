import { expect, test } from 'vitest'
import { parseValue } from '../../../lib/json/value.ts'
import { classify } from './classes.ts'

const none = { baseObjectClass: null, leafObjectClass: null }

test.each<[string, unknown, object]>([
  ['a text', 'Op', { kind: 'object', ...none }],
  ['an op', { _type: 'CustomWeaveType', weave_type: { type: 'Op' } }, { kind: 'op', ...none }],
  ['an op in the form of old clients', { _type: 'Op' }, { kind: 'op', ...none }],
  ['an image', { _type: 'CustomWeaveType', weave_type: { type: 'PIL.Image.Image' } }, { kind: 'object', ...none }],
  ['an object with only a type', { weave_type: { type: 'Op' } }, { kind: 'object', ...none }],
  [
    'a dataset',
    { _type: 'Dataset', _class_name: 'Dataset', _bases: ['Object', 'BaseModel'] },
    { kind: 'object', baseObjectClass: 'Dataset', leafObjectClass: 'Dataset' },
  ],
  [
    'a class far below its base',
    { _class_name: 'Mine', _bases: ['Yours', 'Model', 'Object', 'BaseModel'] },
    { kind: 'object', baseObjectClass: 'Model', leafObjectClass: 'Mine' },
  ],
  [
    'a class of the server',
    { _class_name: 'Provider', _bases: ['BaseObject', 'BaseModel'] },
    { kind: 'object', baseObjectClass: 'Provider', leafObjectClass: 'Provider' },
  ],
  ['a class of another kind', { _class_name: 'A', _bases: ['Thing', 'BaseModel'] }, { kind: 'object', ...none }],
  ['a class that is only BaseModel', { _class_name: 'A', _bases: ['BaseModel'] }, { kind: 'object', ...none }],
  ['a class without a name', { _bases: ['Object', 'BaseModel'] }, { kind: 'object', ...none }],
  [
    'a class with a number for a name',
    { _class_name: 1, _bases: ['Object', 'BaseModel'] },
    { kind: 'object', ...none },
  ],
])('%s', (_, value, expected) => {
  expect(classify(parseValue(JSON.stringify(value)))).toEqual(expected)
})
