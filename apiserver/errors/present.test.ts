import { HttpError, unprocessable } from '../../lib/http/http-error.ts'
import { errors } from './table.ts'
import { expect, test } from 'vitest'
import { presentForClient, presentReason } from './present.ts'

const unknownModel = new HttpError(errors.model_not_found, 'The model x does not exist.')
const invalid = unprocessable(
  { loc: ['body', 'messages', '0', 'role'], msg: 'Field required', type: 'missing' },
  { loc: ['body', 'n'], msg: 'Input should be a valid integer', type: 'int_type' },
)

test.each(['/v1/chat/completions', '/v1/models', '/v1/responses', '/v1/previews'])(
  'an error below %s has the forms of OpenAI and of FastAPI',
  (path) => {
    const error = {
      message: 'The model x does not exist.',
      type: 'not_found_error',
      param: null,
      code: 'model_not_found',
    }
    expect(presentForClient(unknownModel, path)).toEqual({ detail: 'The model x does not exist.', error })
  },
)

test.each(['/v1/preview/models', '/v1/preview', '/v1/system-check', '/openapi', '/'])(
  'an error below %s has only the form of FastAPI',
  (path) => {
    expect(presentForClient(unknownModel, path)).toEqual({ detail: 'The model x does not exist.' })
  },
)

test('a list of issues is one sentence with the path of the first', () => {
  expect(presentForClient(invalid, '/v1/chat/completions')).toEqual({
    detail: invalid.detail,
    error: {
      message: 'messages.0.role: Field required (1 more in detail)',
      type: 'invalid_request_error',
      param: 'messages.0.role',
      code: 'invalid_request',
    },
  })
})

test.each([
  [errors.invalid_api_key, 'authentication_error'],
  [errors.quota_exceeded, 'permission_error'],
  [{ ...errors.engine_unavailable, status: 429 }, 'rate_limit_error'],
  [errors.context_length_exceeded, 'invalid_request_error'],
  [errors.engine_unavailable, 'api_error'],
])('an error has the type that OpenAI gives its status: %o', (definition, type) => {
  const { code, sentence: message } = definition
  expect(presentForClient(new HttpError(definition), '/v1/models')).toMatchObject({ error: { type, code, message } })
})

test("an error has weave's form, with its other members", () => {
  const gone = new HttpError(errors.not_found, 'Obj a not found', { more: { deleted_at: 't' } })
  expect(presentReason(gone)).toEqual({ reason: 'Obj a not found', deleted_at: 't' })
  expect(presentReason(invalid)).toEqual({ detail: invalid.detail })
})
