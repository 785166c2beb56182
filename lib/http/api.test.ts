import { Router } from '@koa/router'
import { Type } from 'typebox'
import { expectTypeOf, test } from 'vitest'
import { Api } from './api.ts'
import type { PathParams } from './operation.ts'

interface State {
  caller: string
}

const api = new Api<State, object>(new Router<State>(), {
  authorize: () => {},
  compileBody: () => () => Promise.reject(new Error('no body')),
  admit: undefined,
  openAnswer: undefined,
  closedQueries: true,
})
const operation = {
  tag: 'T',
  summary: 'Do it',
  answer: Type.Object({ id: Type.String(), state: Type.Literal('done') }),
}

test('parameters have the names of the path', () => {
  expectTypeOf<PathParams<'/a/{b}/c/{d*}'>>().toEqualTypeOf<{ readonly b: string; readonly d: string }>()
  api.get('/a/{b}', operation, ({ params }) => {
    expectTypeOf(params.b).toEqualTypeOf<string>()
    // @ts-expect-error there is no such parameter
    const { c } = params
    return Promise.resolve({ id: String(c), state: 'done' as const })
  })
})

test('an answer has the type of its schema', () => {
  api.get('/fits', operation, () => Promise.resolve({ id: 'a', state: 'done' as const }))
  // @ts-expect-error a member is missing
  api.get('/lacks', operation, () => Promise.resolve({ id: 'a' }))
  // @ts-expect-error a member is of another type
  api.get('/differs', operation, () => Promise.resolve({ id: 1, state: 'done' as const }))
})
