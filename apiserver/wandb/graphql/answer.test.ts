import { describe, expect, test } from 'vitest'
import { runForAnswer } from '../../../lib/request-scope.ts'
import { HttpError } from '../../../lib/http/http-error.ts'
import { AnswerMemory, maxAnswerBytes } from '../../accounts/limits/answer-memory.ts'
import { RequestMemory } from '../../accounts/limits/request-memory.ts'
import { errors } from '../../errors/table.ts'
import { answerGraphql } from './answer.ts'
import { findBoolean, findInteger, readObject, readObjects, readTexts, requireText } from './arguments.ts'
import type { GraphqlRequest } from './plan.ts'
import type { GraphqlContext, GraphqlResource } from './resource.ts'
import { createRoots } from './roots.ts'
import { JsonScalar } from './values.ts'

const caller = {
  keyId: 'k',
  entity: 'team',
  role: 'member',
  weight: 1,
  tokensPerMinute: 1,
  traceProject: null,
} as const
const mib = 1024 * 1024
const context = { caller } as unknown as GraphqlContext

const things: GraphqlResource = {
  query: {
    echo: (args) => ({ __typename: 'Echo', text: JSON.stringify(args), again: (given) => JSON.stringify(given) }),
    many: () => Array.from({ length: 3 }, (_, at) => ({ __typename: at === 1 ? 'Odd' : 'Even', at, self: { at } })),
    sequence: () => ({ __typename: 'ArtifactSequence', name: 'a', nested: { b: 1, c: 2 } }),
    large: () => ({
      text: 'x'.repeat(mib),
      quoted: '\u0001'.repeat(mib / 4),
      json: new JsonScalar({ a: ['x'.repeat(mib)] }),
    }),
    items: () => Array.from({ length: 10_000 }, () => ({ __typename: 'Item', at: 1 })),
    endless: () => Array.from({ length: 400_000 }, () => 1),
    busy: () => {
      throw new HttpError(errors.engine_unavailable)
    },
    broken: () => {
      throw new Error('a secret of the server')
    },
    list: (args) => {
      const items = readObjects(args, 'items', 3)
      return items.map(
        (item) => `${requireText(item, 'name')} ${findInteger(item, 'size')} ${findBoolean(item, 'new')}`,
      )
    },
    texts: (args) => readTexts(readObject(args, 'input'), 'texts', 2),
  },
  mutation: { touch: () => ({ done: true }), forget: () => null },
  hasProject: async (_, { project }) => project === 'known',
  projectFields: (_, { project }) => ({ title: `the ${project}` }),
  features: ['LARGE_FILENAMES'],
  types: { Run: { fields: [] } },
}
const roots = createRoots([things])
const ask = (query: string, more: Partial<GraphqlRequest> = {}) => answerGraphql(roots, { query, ...more }, context)
const failure = (message: RegExp, path?: unknown) => ({
  data: null,
  errors: [{ message: expect.stringMatching(message) as string, ...(path !== undefined && { path }) }],
})

test('aliases, fragments, directives, variables and default values', async () => {
  const query = `query A($a: Int = 3, $b: [X!] = [{c: "x"}], $no: Boolean = false, $given: S) {
    __typename
    first: echo(a: $a, b: $b, given: $given, missing: $other, none: null, e: ENUM) { ...Texts __typename }
    second: echo @include(if: $no) { text }
    third: echo @skip(if: $no) { ... on Echo { text } ... @include(if: $no) { again } unknown { below } }
  }
  fragment Texts on Whatever { text again(x: {y: [1.5, true]}) }`
  expect(await ask(query, { variables: { given: { deep: [1] } } })).toEqual({
    data: {
      __typename: 'Query',
      first: {
        text: '{"a":3,"b":[{"c":"x"}],"given":{"deep":[1]},"none":null,"e":"ENUM"}',
        again: '{"x":{"y":[1.5,true]}}',
        __typename: 'Echo',
      },
      third: { text: '{}', unknown: null },
    },
  })
})

test('lists, fields that are selected twice, and fragments of types', async () => {
  expect(await ask('{ many { at self { at } self { nothing } __typename } }')).toMatchObject({
    data: { many: [{ at: 0, self: { at: 0, nothing: null }, __typename: 'Even' }, { at: 1 }, { at: 2 }] },
  })
  const query =
    '{ sequence { ... on ArtifactCollection { name nested { b } } nested { c } ... on ArtifactPortfolio { x: name } } }'
  expect(await ask(query)).toEqual({ data: { sequence: { name: 'a', nested: { b: 1, c: 2 } } } })
})

test('an operation is chosen by its name', async () => {
  const query = 'query A { a: __typename } query B { b: __typename }'
  expect(await ask(query, { operationName: 'B' })).toEqual({ data: { b: 'Query' } })
  expect(await ask(query)).toEqual(failure(/several operations/))
  expect(await ask(query, { operationName: 'C' })).toEqual(failure(/unknown/))
  expect(await ask('query A { a: __typename }', { operationName: '' })).toEqual({ data: { a: 'Query' } })
})

test('unknown fields are null, and names of JavaScript are none', async () => {
  expect(await ask('{ sweep { id } constructor { name } __proto__: many { at } toString }')).toEqual({
    data: Object.fromEntries([
      ['sweep', null],
      ['constructor', null],
      ['__proto__', [{ at: 0 }, { at: 1 }, { at: 2 }]],
      ['toString', null],
    ]),
  })
})

test('a mutation that is unknown, or that returns nothing, is an error', async () => {
  expect(await ask('mutation { touch { done } }')).toEqual({ data: { touch: { done: true } } })
  expect(await ask('mutation { touch { done } upsertSweep { id } }')).toEqual(failure(/upsertSweep is not supported/))
  await expect(ask('mutation { forget { id } }')).rejects.toThrow()
})

test.each(['busy', 'broken'])('the error of %s is not one of the values', async (name) => {
  await expect(ask(`{ ${name} }`)).rejects.toThrow()
})

test('features, types and projects', async () => {
  const query = `{ serverInfo { features { name isEnabled } } Run: __type(name: "Run") { fields { name } }
    Odd: __type(name: "Odd") { name } known: project(name: "known") { name title entity { name } }
    project(name: "none", entityName: "team") { name } }`
  expect(await ask(query)).toEqual({
    data: {
      serverInfo: { features: [{ name: 'LARGE_FILENAMES', isEnabled: true }] },
      Run: { fields: [] },
      Odd: null,
      known: { name: 'known', title: 'the known', entity: { name: 'team' } },
      project: null,
    },
  })
  const foreign = await ask('{ project(name: "known", entityName: "others") { name } }')
  expect(foreign).toEqual({
    data: null,
    errors: [
      {
        message: expect.stringMatching(/does not belong|belongs to the entity team/) as string,
        extensions: { code: 'PERMISSION_ERROR' },
        path: ['project'],
      },
    ],
  })
})

test.each([
  ['items: [{name: "a", size: 3, new: true}, {name: "b"}]', { list: ['a 3 true', 'b undefined undefined'] }],
  ['items: null', { list: [] }],
])('arguments %s', async (given, data) => {
  expect(await ask(`{ list(${given}) }`)).toEqual({ data })
})

test.each([
  ['list(items: [{name: "a", size: 1.5}])', /size must be an integer/],
  ['list(items: [{name: 3}])', /name must be a string/],
  ['list(items: [{name: "\\u0000"}])', /NUL/],
  ['list(items: [{}])', /name is missing/],
  ['list(items: [{name: "a", new: "yes"}])', /boolean/],
  ['list(items: [{}, {}, {}, {}])', /At most 3/],
  ['list(items: {name: "a"})', /must be a list/],
  ['list(items: ["a"])', /list of objects/],
  ['texts(input: "a")', /must be an object/],
  ['texts(input: {texts: [1]})', /list of strings/],
])('%s is an error', async (field, message) => {
  expect(await ask(`{ ${field} }`)).toEqual(failure(message, [field.slice(0, field.indexOf('('))]))
})

const doubling = Array.from({ length: 40 }, (_, at) => `fragment F${at} on T { ...F${at + 1} ...F${at + 1} }`).join(' ')

test.each([
  ['a syntax error', '{ a(', /Syntax Error/],
  ['no operation', 'fragment F on T { a }', /no operation/],
  ['a subscription', 'subscription { a }', /Subscriptions/],
  ['an unknown fragment', '{ ...F }', /does not exist/],
  ['fragments in a circle', '{ ...A } fragment A on T { b { ...B } } fragment B on T { ...A }', /contains itself/],
  ['fragments that double', `{ ...F0 } ${doubling} fragment F40 on T { a }`, /2000 fields|nested/],
  [
    'aliases by the thousand',
    `{ ${Array.from({ length: 1_000 }, (_, at) => `a${at}: echo { text }`).join(' ')} }`,
    /20 fields/,
  ],
  [
    'fields by the thousand',
    `{ many { ${Array.from({ length: 3_000 }, (_, at) => `a${at}: at`).join(' ')} } }`,
    /Syntax|2000/,
  ],
  ['deep selections', `${'{ a '.repeat(30)}${'}'.repeat(30)}`, /levels deep/],
  ['very deep selections', '{ a '.repeat(4_000), /levels deep|Syntax/],
  ['a deep value', `{ a(x: ${'['.repeat(50)}${']'.repeat(50)}) }`, /levels deep/],
  ['a very deep value', `{ a(x: ${'['.repeat(10_000)}) }`, /levels deep|Syntax/],
  ['a long query', `{ a } #${'x'.repeat(70_000)}`, /longer/],
  ['a large answer', '{ endless }', /too large/],
  ['two fields with one name', '{ x: many { at } x: sequence { name } }', /two different fields/],
  ['an include without a boolean', '{ a @include(if: 3) }', /boolean/],
])('%s is an error', async (_, query, message) => {
  const answer = await ask(query)
  expect(answer).toMatchObject(failure(message))
})

test('two subjects cannot have the same field', () => {
  expect(() => createRoots([things, things])).toThrow(/two subjects/)
})

describe('an answer of more than 64 MiB is an error, before it is put together', () => {
  const alias = (count: number, field: string) => Array.from({ length: count }, (_, at) => `a${at}: ${field}`).join(' ')
  const askCounted = (query: string) =>
    runForAnswer(new AnswerMemory(() => new RequestMemory().reserve('team')), () => ask(query))

  test.each([
    ['a text under many names', `{ large { ${alias(64, 'text')} } }`],
    ['a text that is longer as JSON', `{ large { ${alias(43, 'quoted')} } }`],
    ['a JSON value under many names', `{ large { ${alias(64, 'json')} } }`],
    ['a long name of many fields', `{ items { ${'a'.repeat(7_000)}: at } }`],
  ])('%s', async (_, query) => {
    expect(await askCounted(query)).toMatchObject({
      data: null,
      errors: [{ message: expect.stringContaining(`${maxAnswerBytes} bytes`) as string }],
    })
  })

  test('a smaller one is none', async () => {
    expect(await askCounted(`{ large { ${alias(60, 'text')} } }`)).not.toHaveProperty('errors')
  })
})
