import { expect, test, vi } from 'vitest'
import { clientTimeoutMs, runPython } from '../support/client-scripts.ts'
import { isNightly } from '../support/random-cases.ts'
import { useOwnStack } from '../support/api-server.ts'

vi.setConfig({ testTimeout: clientTimeoutMs })
const stack = await useOwnStack()

type Variant = [name: string, env: Record<string, string>, facts: object]

/** The SDK takes half a minute of the processor's time for a dataset of this size. */
const onlyNightly = (variants: Variant[]) => (isNightly() ? variants : [])

const objects = {
  same_digest: true,
  first: "{'temperature': 0.5, 'stop': ['a', 'b'], 'ünï': 1152921504606846977}",
  second: "{'temperature': 1.0, 'stop': []}",
  latest: { temperature: 7 },
  versions: [0.5, 1, 7],
  by_digest: { temperature: 1, stop: [] },
  by_uri: { temperature: 7 },
  missing: ' 404): Obj settings:v9 not found',
  missing_name: ' 404): Obj nowhere:latest not found',
  object: [
    'WeaveObject',
    'Bread',
    [
      { do: 'mix', minutes: 3 },
      { do: 'bake', minutes: 30 },
    ],
  ],
  path: 30,
  path_with_escapes: 3,
  path_through_ref: 'Bread',
  held_object: 'Bread',
  held_op: '12 minutes',
  op_by_ref: '7 minutes',
  classes: [['bread', 'Recipe', 1, 0]],
  all_versions: [
    [0, 0],
    [1, 0],
    [2, 1],
  ],
  latest_only: ['bread', 'holder', 'settings'],
  prompt: [{ role: 'user', content: 'Say tide.' }],
  deleted: '404): settings:v2',
  v2_after_delete: '404): settings:v2',
  deleted_rest: 2,
  latest_of_none: true,
  delete_again: 'NotFoundError',
  revived: [true, { temperature: 1, stop: [] }],
  deleted_op: true,
  complaints: [],
}

// The SDK caches what it has sent, and does not send it again.
const sentOnce = { published_again: 1, latest_after_delete: { temperature: 1, stop: [] } }
const sentAgain = {
  published_again: 0.5,
  latest_after_delete: { temperature: 0.5, stop: ['a', 'b'], ünï: 2 ** 60 },
}

test.concurrent.each<Variant>([
  ['as it comes', {}, sentOnce],
  ...onlyNightly([
    ['with digests that it computes', { WEAVE_ENABLE_CLIENT_SIDE_DIGESTS: 'true' }, sentOnce],
    ['without its cache', { WEAVE_USE_SERVER_CACHE: 'false' }, sentAgain],
  ]),
])('weave for Python publishes, finds, walks and deletes objects, %s', async (_, env, more) => {
  expect(await runPython(stack, 'objects', { packages: 'weave-python', env })).toEqual({ ...objects, ...more })
})

test.concurrent('weave for Python tags versions of objects and gives them aliases', async () => {
  expect(await runPython(stack, 'labels', { packages: 'weave-python' })).toEqual({
    tags: ['blue', 'good'],
    aliases: [['production'], ['best', 'latest', 'staging']],
    both: [['good'], ['best', 'latest', 'staging']],
    all_tags: ['blue', 'good'],
    all_aliases: ['best', 'production', 'staging'],
    by_alias: [1, 2, 2, 1],
    untouched: [],
    moved: 2,
    tags_left: ['good'],
    aliases_left: [[], ['best', 'latest', 'production']],
    all_tags_left: ['good'],
    all_aliases_left: ['best', 'production'],
    complaints: [],
  })
})

test.concurrent.each<Variant>([
  ['as it comes', {}, {}],
  ...onlyNightly([
    ['with digests that it computes', { WEAVE_ENABLE_CLIENT_SIDE_DIGESTS: 'true' }, {}],
    ['in one request', { WEAVE_USE_PARALLEL_TABLE_UPLOAD: 'false' }, {}],
  ]),
])('weave for Python publishes, reads and grows a dataset of 5,000 rows, %s', async (_, env, more) => {
  expect(await runPython(stack, 'datasets', { packages: 'weave-python', env })).toEqual({
    length: 5000,
    description: 'many',
    same_rows: true,
    one: { number: 4321, word: 'w1', nested: { half: 2160.5, list: [4321, null] } },
    float_kept: '4.0',
    selected: [3, 4999, 17],
    columns: ['number', 'word', 'nested'],
    row_ref: 4999,
    grown: 5002,
    grown_tail: [
      { number: -1, word: 'new' },
      { number: -2, word: 'new' },
    ],
    old_stays: 5000,
    two_versions: 2,
    duplicates_kept: [1, 1, 2],
    edited: [5, 1, 1, 2],
    calls_on_rows: [
      [10, 11],
      [11, 12],
    ],
    filtered_through_ref: [12],
    complaints: [],
    ...more,
  })
})

test.concurrent('weave for Python stores images, texts and bytes of calls and objects, and reads them back', async () => {
  expect(await runPython(stack, 'files', { packages: 'weave-python' })).toEqual({
    image: [[300, 100], 'RGB', true],
    content: ['application/octet-stream', true],
    when: '2026-01-31 12:00:00+00:00',
    markdown: '# Tide',
    long_text: [true, true],
    published_image: true,
    text: 'tide ☂',
    complaints: [],
  })
})
