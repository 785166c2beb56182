import { HttpError } from '../http-error.ts'
import { Type } from 'typebox'
import { describe, expect, test } from 'vitest'
import { compileQuery } from './compile.ts'

const schema = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
  wait: Type.Optional(Type.Number({ minimum: 0, maximum: 60 })),
  state: Type.Optional(Type.Array(Type.Enum(['Queued', 'Running']), { minItems: 1 })),
})
const parse = compileQuery(schema)

describe('a query', () => {
  test.each<[string, NodeJS.Dict<string | string[]>, unknown]>([
    ['no parameters: the defaults', {}, { limit: 20 }],
    ['texts that are numbers', { limit: '3', wait: '0.5' }, { limit: 3, wait: 0.5 }],
    ['a repeated one: the last', { limit: ['3', '4'] }, { limit: 4 }],
    ['one of a list', { state: 'Queued' }, { limit: 20, state: ['Queued'] }],
    ['a repeated list', { state: ['Queued', 'Running'] }, { limit: 20, state: ['Queued', 'Running'] }],
    ['a list with brackets', { 'state[]': ['Queued', 'Running'] }, { limit: 20, state: ['Queued', 'Running'] }],
    ['a list with commas', { state: 'Queued,Running' }, { limit: 20, state: ['Queued', 'Running'] }],
    ['unknown names', { __proto__x: '1', 'limit[]': '7' }, { limit: 20, __proto__x: '1', 'limit[]': '7' }],
  ])('accepts %s', (_name, given, expected) => {
    expect(parse(given)).toEqual(expected)
  })

  test.each<[string, NodeJS.Dict<string | string[]>, string[]]>([
    ['a text for a number', { limit: 'x' }, ['query', 'limit']],
    ['spaces for a number', { wait: '\t ' }, ['query', 'wait']],
    ['an unknown item of a list', { state: 'Queued,Done' }, ['query', 'state', '1']],
    ['an empty list', { state: '' }, ['query', 'state', '0']],
    ['infinity', { wait: 'Infinity' }, ['query', 'wait']],
    ['a number that becomes infinite', { wait: '1e999' }, ['query', 'wait']],
    ['a negative number that becomes infinite', { wait: '-1e999' }, ['query', 'wait']],
  ])('rejects %s', (_name, given, loc) => {
    expect(() => parse(given)).toThrow(HttpError)
    try {
      parse(given)
    } catch (error) {
      expect((error as HttpError).detail).toEqual([{ loc, msg: expect.any(String), type: expect.any(String) }])
    }
  })
})

describe('a closed query', () => {
  const parseClosed = compileQuery(schema, { closed: true })

  test('accepts known names', () => {
    expect(parseClosed({ 'state[]': ['Queued'], wait: '1' })).toEqual({ limit: 20, state: ['Queued'], wait: 1 })
  })

  test('rejects each unknown name, and lists the known ones', () => {
    const issue = (name: string) => ({
      loc: ['query', name],
      msg: 'Extra inputs are not permitted; this list knows: limit, wait, state',
      type: 'extra_forbidden',
    })
    const detail = [issue('status'), issue('limit[]')]
    expect(() => parseClosed({ status: 'Running', 'limit[]': '7' })).toThrow(expect.objectContaining({ detail }))
  })
})
