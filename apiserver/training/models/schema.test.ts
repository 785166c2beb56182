import { HttpError } from '../../../lib/http/http-error.ts'
import { describe, expect, test } from 'vitest'
import { parseJson } from '../../../lib/json/document.ts'
import { compileBody } from '../../../lib/http/validation/compile.ts'
import { modelCreateSchema } from './schema.ts'

const parseModelCreate = compileBody(modelCreateSchema)

const parse = (body: unknown) => parseModelCreate(parseJson(Buffer.from(JSON.stringify(body))))

describe('a model body', () => {
  test('is accepted with every key, null for values that the user left out', () => {
    const body = { entity: null, project: null, name: null, base_model: 'org/base', return_existing: true }
    expect(parse(body)).toEqual(body)
  })

  test.each([
    ['a name with a slash', { name: 'a/b' }, 'string_pattern_mismatch'],
    ['a name with a colon', { name: 'a:step1' }, 'string_pattern_mismatch'],
    ['a name that is two dots', { name: '..' }, 'string_pattern_mismatch'],
    ['an empty name', { name: '' }, 'string_too_short'],
    ['a name with a line break', { name: 'a\n' }, 'string_pattern_mismatch'],
    ['a name with a NUL', { name: 'a\0b' }, 'string_pattern_mismatch'],
    ['a name that is too long', { name: 'a'.repeat(129) }, 'string_too_long'],
    ['a project that is a number', { project: 7 }, 'string_type'],
    ['a base model that is null', { base_model: null }, 'string_type'],
    ['a flag that is a text', { return_existing: 'yes' }, 'bool_type'],
  ])('is rejected with %s', (_, change, type) => {
    const [name] = Object.keys(change)
    const error = catchHttpError(() => parse({ base_model: 'org/base', ...change }))
    expect(error.status).toBe(422)
    expect(error.detail).toContainEqual(expect.objectContaining({ loc: ['body', name], type }))
  })
})

function catchHttpError(act: () => unknown): HttpError {
  try {
    act()
  } catch (error) {
    if (error instanceof HttpError) return error
    throw error
  }
  throw new Error('was not refused')
}
