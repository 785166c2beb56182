import { expect, test, vi } from 'vitest'
import { clientTimeoutMs, newProject, projectId, runPython } from '../support/client-scripts.ts'
import { useOwnStack } from '../support/api-server.ts'

vi.setConfig({ testTimeout: clientTimeoutMs })
const stack = await useOwnStack()

const called = (op: string, inputs: string[], output: string, more: object = {}) => ({
  op,
  inputs,
  output,
  name: null,
  error: null,
  status: 'success',
  ended: true,
  ...more,
})

const ops = {
  calls: [
    called('Greeter.predict', ['name', 'self'], "'Hello, sea'"),
    called('count', ['upto'], '[0, 1, 2, 3]'),
    called('double', ['number'], '6'),
    called('double', ['number'], '8'),
    called('fail', ['why'], 'None', { error: 'no such luck', status: 'error' }),
    called('fetch', ['name'], "'A'"),
    called('fetch', ['name'], "'B'"),
    called('gather', ['names'], "['A', 'B']"),
    called('named', ['text'], "'x'", { name: 'a name of its own' }),
    called(
      'outer',
      ['note', 'number'],
      String.raw`{'sum': 14, 'big': 1152921504606846977, 'whole': 1.0, 'note': 'täglich ☂ \u2028 \x7f'}`,
    ),
    called('stream', ['words'], "'one two'"),
  ],
  parents: [
    ['gather', 'fetch'],
    ['gather', 'fetch'],
    ['outer', 'double'],
    ['outer', 'double'],
  ],
  traces: 7,
  one_trace_per_tree: true,
  attributes: { tenant: 'blue', tries: 3 },
  model_read_back: 'Hello',
  note: 'täglich ☂ \u2028 \x7f',
  children: [6, 8],
  status_counts: { success: 3, error: 0 },
  renamed: 'another',
  name_removed: null,
  deleted_with_children: 3,
  after_delete: 'Call not found',
  complaints: [],
}

test.concurrent.each<[string, Record<string, string>]>([
  ['with its defaults, and a project name without an entity', {}],
  [
    'with separate starts and ends, and a project name with its entity',
    { WEAVE_USE_CALLS_COMPLETE: 'false', WEAVE_PROJECT: projectId(newProject()) },
  ],
  ['with digests that the client computes', { WEAVE_ENABLE_CLIENT_SIDE_DIGESTS: 'true' }],
])('weave for Python traces ops of every kind, %s', async (_, env) => {
  expect(await runPython(stack, 'ops', { packages: 'weave-python', env })).toEqual(ops)
})

test.concurrent('weave for Python queries 1,205 calls by filter, expression, order, page and column', async () => {
  expect(await runPython(stack, 'calls', { packages: 'weave-python' })).toEqual({
    all: 1205,
    distinct: 1205,
    in_order: true,
    len: 1205,
    len_of_filter: 1204,
    len_of_query: 601,
    any_version: 1204,
    roots: 1204,
    parents: [2000],
    trace: [2000, 2000],
    ids: [3, 5],
    newest: [2000, 1202, 1201],
    page: [1100, 1101, 1102],
    past_the_end: [2000],
    slice: [998, 999, 1000, 1001],
    small_pages: Array.from({ length: 20 }, (__, number) => number),
    small: [0, 2, 4, 6, 8],
    heaviest: [1202, 1201, 1200],
    without_mass_come_last: [0, 7],
    failed: [7],
    exception: [7],
    contains: [100, 1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008, 1009],
    in: [4, 400],
    deep: 402,
    attribute: 300,
    or: [3, 1000],
    missing: [7],
    gte: 3,
    since: 205,
    sizes: [true, true],
    columns: { inputs: { number: 0, tag: 'even', mass: 0 }, output: null, op: 'weigh', same: [true, true] },
    complaints: [],
  })
})
