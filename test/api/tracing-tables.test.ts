import { createHash, randomUUID } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { addKey, useApiServer } from '../support/api-server.ts'
import { isNightly } from '../support/random-cases.ts'
import { createTraceClient, type TraceClient } from '../support/trace-client.ts'

const own = useApiServer()
let client: TraceClient
let project_id: string

beforeAll(async () => {
  client = createTraceClient(own.server.url, await addKey(own.database.pool, 'team'))
})
beforeEach(() => {
  project_id = `team/${randomUUID()}`
})

interface Row {
  digest: string
  val: Record<string, unknown>
  original_index: number
}

const digestOf = (canonical: string) =>
  createHash('sha256').update(canonical).digest('base64url').replaceAll('-', 'X').replaceAll('_', 'Y')
const tableDigestOf = (digests: string[]) => createHash('sha256').update(digests.join('')).digest('hex')
const create = (rows: unknown[], more: object = {}) =>
  client.call<{ digest: string; row_digests: string[] }>('/table/create', { table: { project_id, rows, ...more } })
const query = async (digest: string, more: object = {}) =>
  (await client.call<{ rows: Row[] }>('/table/query', { project_id, digest, ...more })).rows
const update = (base_digest: string, updates: object[]) =>
  client.post('/table/update', { project_id, base_digest, updates })
const refusal = (status: number, reason: RegExp) => ({
  status,
  body: { reason: expect.stringMatching(reason) as string },
})
const numbers = (count: number) => Array.from({ length: count }, (_, i) => ({ i }))
const valuesOf = (rows: Row[]) => rows.map(({ val }) => val['i'])

describe('a table', () => {
  test('is known by the digest of its rows, and lists them in their order', async () => {
    const rows = [{ b: 1, a: 'é' }, { i: 2.5 }, { b: 1, a: 'é' }]
    const digests = [String.raw`{"a": "\u00e9", "b": 1}`, '{"i": 2.5}', String.raw`{"a": "\u00e9", "b": 1}`].map(
      digestOf,
    )
    const made = await create(rows)
    expect(made).toEqual({ digest: tableDigestOf(digests), row_digests: digests })
    const listed = rows.map((val, index) => ({ digest: digests[index], val, original_index: index }))
    expect(await query(made.digest)).toEqual(listed)
    const streamed = await client.send('POST', '/table/query_stream', { project_id, digest: made.digest })
    expect(streamed.headers.get('content-type')).toMatch(/^application\/jsonl/)
    expect(await streamed.text()).toBe(listed.map((row) => `${JSON.stringify(row)}\n`).join(''))
    expect(await create(rows)).toEqual(made)
  })

  test('may be empty', async () => {
    const digest = createHash('sha256').digest('hex')
    expect(await create([])).toEqual({ digest, row_digests: [] })
    expect(await query(digest)).toEqual([])
    expect(await client.call('/table/query_stats', { project_id, digest })).toEqual({ count: 0 })
  })

  test('with an unknown digest has no rows', async () => {
    expect(await query('x')).toEqual([])
    expect(await query('x', { sort_by: [{ field: 'a', direction: 'asc' }] })).toEqual([])
    expect(await client.call('/table/query_stats', { project_id, digest: 'x' })).toEqual({ count: 0 })
    expect(await client.call('/table/query_stats_batch', { project_id, digests: ['x'] })).toEqual({ tables: [] })
    expect(await update('x', [])).toEqual(refusal(404, /not found/))
  })

  test('returns the text of its rows unchanged, each in one line if lines are requested', async () => {
    const row = String.raw`{"z" : 1e400,${'\n\t'}"9": 100000000000000000001, "n": "a\u0000\n", "1": NaN}`
    const body = `{"table":{"project_id":"${project_id}","rows":[ ${row} ,{}]}}`
    const { digest } = (await client.post('/table/create', body)).body as Row
    const clean = row.replace(String.raw`\u0000`, String.raw`\ufffd`).replace('NaN', 'null')
    expect(await client.text('/table/query', { project_id, digest })).toContain(`"val":${clean},`)
    const lines = (await client.text('/table/query_stream', { project_id, digest })).split('\n')
    expect(lines[0]).toContain(`"val":${clean.replace('\n', ' ')},`)
    expect(lines).toHaveLength(3)
  })

  test.each<[string, unknown]>([
    ['a row that is a list', [{}, []]],
    ['a row that is null', [null]],
    ['a text for rows', 'rows'],
    ['null for rows', null],
    ['an object for rows', {}],
  ])('with %s is rejected', async (_, rows) => {
    expect(await client.post('/table/create', { table: { project_id, rows } })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: expect.arrayContaining(['table', 'rows']) as string[] }] },
    })
  })

  test('is rejected when the client has computed another digest', async () => {
    const { digest } = await create([{ a: 1 }])
    await create([{ a: 1 }], { expected_digest: digest })
    const table = { project_id, rows: [{ a: 2 }], expected_digest: digest }
    expect(await client.post('/table/create', { table })).toEqual(refusal(409, /digest/))
    const row_digests = ['x']
    const listed = await client.post('/table/create_from_digests', { project_id, row_digests, expected_digest: digest })
    expect(listed).toEqual(refusal(409, /digest/))
  })

  test('with too many rows is too large', async () => {
    const rows = Array.from({ length: 200_001 }, () => '{}').join(',')
    const body = `{"table":{"project_id":"${project_id}","rows":[${rows}]}}`
    expect(await client.post('/table/create', body)).toEqual({ status: 413, body: { reason: 'Request too large' } })
  })

  test('may be created concurrently, from the same rows in any order', async () => {
    const rows = numbers(3_000)
    const made = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        create(index % 3 === 0 ? rows : index % 3 === 1 ? rows.toReversed() : rows.slice(1_000)),
      ),
    )
    expect(new Set(made.map(({ digest }) => digest)).size).toBe(3)
    for (const { digest, row_digests } of made)
      expect((await query(digest)).map((row) => row.digest)).toEqual(row_digests)
  })
})

describe('a page of a table', () => {
  test('can begin and end at any row', async () => {
    const { digest } = await create(numbers(2_500))
    const page = async (more: object) => valuesOf(await query(digest, more))
    const all = [...Array(2_500).keys()]
    expect(await page({})).toEqual(all)
    for (const [offset, limit] of [
      [0, 100],
      [950, 100],
      [999, 2],
      [1_000, 1_000],
      [2_400, 500],
      [2_500, 1],
      [5, 0],
    ] as const) {
      const rows = await query(digest, { offset, limit })
      expect(valuesOf(rows)).toEqual(all.slice(offset, offset + limit))
      expect(rows.map(({ original_index }) => original_index)).toEqual(valuesOf(rows))
    }
    expect(await page({ offset: 2_498 })).toEqual([2_498, 2_499])
    expect(await page({ limit: 2 })).toEqual([0, 1])
    expect(await page({ limit: 1e300, offset: 2_499 })).toEqual([2_499])
    expect(await page({ offset: 1e300, limit: 1e300 })).toEqual([])
    expect(await page({ offset: null, limit: null, filter: null, sort_by: null })).toEqual(all)
    expect(await client.post('/table/query', { project_id, digest, limit: -1 })).toEqual(refusal(400, /limit/))
    expect(await client.post('/table/query', { project_id, digest, offset: -1 })).toEqual(refusal(400, /offset/))
  })

  test('can have selected rows', async () => {
    const { digest, row_digests } = await create([...numbers(1_500), { i: 3 }])
    const pick = async (digests: string[], more: object = {}) =>
      (await query(digest, { filter: { row_digests: digests }, ...more })).map(({ original_index }) => original_index)
    expect(await pick([row_digests[1_200]!, row_digests[3]!, 'x'])).toEqual([3, 1_200, 1_500])
    expect(await pick([row_digests[1_200]!, row_digests[3]!], { offset: 1, limit: 1 })).toEqual([1_200])
    expect(await pick([])).toHaveLength(1_501)
    const { row_digests: others } = await create([{ other: true }])
    expect(await pick(others)).toEqual([])
  })

  test('is sorted by values in rows: numbers numerically, missing values last', async () => {
    const rows = [{ a: { b: 10 } }, { a: {} }, { a: { b: 9 } }, { a: { b: 'x' } }, { a: { b: 9 }, c: 1 }]
    const { digest } = await create(rows)
    const sort = async (...keys: [string, string][]) =>
      (await query(digest, { sort_by: keys.map(([field, direction]) => ({ field, direction })) })).map(
        ({ original_index }) => original_index,
      )
    expect(await sort(['a.b', 'asc'])).toEqual([2, 4, 0, 3, 1])
    expect(await sort(['a.b', 'desc'])).toEqual([0, 2, 4, 3, 1])
    expect(await sort(['a.b', 'asc'], ['c', 'asc'])).toEqual([4, 2, 0, 3, 1])
    expect(await sort(["x' || pg_sleep(1)::text", 'asc'])).toEqual([0, 1, 2, 3, 4])
    expect(await query(digest, { sort_by: [{ field: 'a.b', direction: 'asc' }], limit: 1, offset: 1 })).toMatchObject([
      { original_index: 4 },
    ])
  })

  test('cannot be sorted by an empty part of a path', async () => {
    const body = { project_id, digest: 'x', sort_by: [{ field: 'a..b', direction: 'asc' }] }
    expect(await client.post('/table/query', body)).toEqual(refusal(400, /sort field/))
  })

  test('may be far larger than one chunk of a read', async () => {
    const text = 'x'.repeat(900_000)
    const { digest } = await create(Array.from({ length: 12 }, (_, i) => ({ i, text })))
    const rows = await query(digest)
    expect(rows.map(({ val }) => [val['i'], (val['text'] as string).length])).toEqual(
      Array.from({ length: 12 }, (_, i) => [i, 900_000]),
    )
  })
})

describe('a table of digests', () => {
  test('has the rows that exist', async () => {
    const { row_digests } = await create(numbers(3))
    const order = [row_digests[2]!, row_digests[0]!, row_digests[2]!]
    const made = await client.call<Row>('/table/create_from_digests', { project_id, row_digests: order })
    expect(made).toEqual({ digest: tableDigestOf(order) })
    expect(valuesOf(await query(made.digest))).toEqual([2, 0, 2])
    const probe = await client.post('/table/create_from_digests', { project_id, row_digests: [] })
    expect(probe).toEqual({ status: 200, body: { digest: tableDigestOf([]) } })
  })

  test('may exist before its rows', async () => {
    const late = digestOf('{"late": true}')
    const order = ['x'.repeat(100_000), late, 'a\'"\\{},NULL', '']
    const { digest } = await client.call<Row>('/table/create_from_digests', { project_id, row_digests: order })
    expect(digest).toBe(tableDigestOf(order))
    expect(await query(digest)).toEqual([])
    await create([{ late: true }])
    expect(await query(digest)).toEqual([{ digest: late, val: { late: true }, original_index: 1 }])
    expect(await client.call('/table/query_stats', { project_id, digest })).toEqual({ count: 4 })
  })
})

describe('a changed table', () => {
  test('gets its changes in order; the original stays', async () => {
    const base = await create(numbers(4))
    const row = (val: object) => digestOf(JSON.stringify(val).replaceAll(':', ': '))
    const { status, body } = await update(base.digest, [
      { append: { row: { i: 9 } } },
      { pop: { index: 0 } },
      { insert: { index: 0, row: { i: 7 } } },
      { insert: { index: 4, row: { i: 1 } }, pop: null },
      { pop: { index: 5 } },
    ])
    const changed = body as { digest: string; updated_row_digests: string[] }
    expect(status).toBe(200)
    expect(changed.updated_row_digests).toEqual([9, 0, 7, 1, 9].map((i) => row({ i })))
    expect(valuesOf(await query(changed.digest))).toEqual([7, 1, 2, 3, 1])
    expect(changed.digest).toBe(tableDigestOf([7, 1, 2, 3, 1].map((i) => row({ i }))))
    expect(valuesOf(await query(base.digest))).toEqual([0, 1, 2, 3])
    expect(await update(base.digest, [])).toEqual({
      status: 200,
      body: { digest: base.digest, updated_row_digests: [] },
    })
  })

  test.each<[string, object, number]>([
    ['an index beyond the end', { pop: { index: 3 } }, 400],
    ['a negative index', { pop: { index: -1 } }, 400],
    ['an index far beyond the end', { insert: { index: 1e300, row: {} } }, 400],
    ['an index beyond the end to insert at', { insert: { index: 4, row: {} } }, 400],
    ['a row that is not an object', { append: { row: [] } }, 422],
    ['no row', { append: {} }, 422],
    ['nothing', {}, 422],
    ['nulls', { append: null, pop: null, insert: null }, 422],
    ['a fractional index', { pop: { index: 0.5 } }, 422],
  ])('is rejected with %s', async (_, change, status) => {
    const { digest } = await create(numbers(3))
    expect((await update(digest, [change])).status).toBe(status)
  })
})

describe('statistics', () => {
  test('count rows and their bytes', async () => {
    const [one, two] = [await create([{ a: 1 }, { a: 1 }, { b: 22 }]), await create(numbers(1_200))]
    const digests = [one.digest, two.digest, 'x']
    const ask = async (more: object = {}) =>
      (
        await client.call<{ tables: Row[] }>('/table/query_stats_batch', { project_id, digests, ...more })
      ).tables.toSorted((a, b) => digests.indexOf(a.digest) - digests.indexOf(b.digest))
    expect(await ask()).toEqual([
      { digest: one.digest, count: 3, storage_size_bytes: null },
      { digest: two.digest, count: 1_200, storage_size_bytes: null },
    ])
    const bytes = numbers(1_200).reduce((sum, row) => sum + JSON.stringify(row).length, 0)
    expect(await ask({ include_storage_size: true })).toEqual([
      { digest: one.digest, count: 3, storage_size_bytes: 22 },
      { digest: two.digest, count: 1_200, storage_size_bytes: bytes },
    ])
    expect(await client.call('/table/query_stats_batch', { project_id, digests: null })).toEqual({ tables: [] })
  })
})

test('tables of 5,000 rows and of 100,000 digests are quick', async () => {
  const rows = Array.from({ length: 5_000 }, (_, i) => ({ i, text: `row ${i} ${'x'.repeat(150)}` }))
  const measure = async <T>(work: () => Promise<T>): Promise<[T, number]> => {
    const startMs = performance.now()
    return [await work(), performance.now() - startMs]
  }
  const [made, createMs] = await measure(() => create(rows))
  const order = Array.from({ length: 100_000 }, (_, i) => made.row_digests[(i * 7) % 5_000]!)
  const [long, orderMs] = await measure(() =>
    client.call<Row>('/table/create_from_digests', { project_id, row_digests: order }),
  )
  const [page, pageMs] = await measure(() => query(long.digest, { offset: 99_900, limit: 100 }))
  const [changed, updateMs] = await measure(() => update(long.digest, [{ append: { row: { i: -1 } } }]))
  expect(page.map(({ digest }) => digest)).toEqual(order.slice(99_900))
  expect(changed.status).toBe(200)
  // Far more than it takes here, and far less than a client's timeout.
  expect(Math.max(createMs, orderMs, pageMs, updateMs)).toBeLessThan(5_000)
})

test('a table with more rows than one read returns is listed completely, also with missing rows', async () => {
  const { row_digests } = await create(numbers(100))
  const order = Array.from({ length: 25_000 }, (_, index) =>
    index < 21_000 && index > 5 ? 'x' : row_digests[index % 100]!,
  )
  const { digest } = await client.call<Row>('/table/create_from_digests', { project_id, row_digests: order })
  const indexes = (await query(digest)).map(({ original_index }) => original_index)
  expect(indexes).toEqual([...Array(6).keys(), ...Array.from({ length: 4_000 }, (_, index) => 21_000 + index)])
  const page = await query(digest, { offset: 3, limit: 20_999 })
  expect(page.map(({ original_index }) => original_index)).toEqual([3, 4, 5, 21_000, 21_001])
})

test.runIf(isNightly())('a table has at most a million rows', async () => {
  const row_digests = Array.from({ length: 1_000_001 }, () => 'x')
  const answer = await client.post('/table/create_from_digests', { project_id, row_digests })
  expect(answer).toEqual({ status: 413, body: { reason: 'Request too large' } })
  const { digest } = await client.call<Row>('/table/create_from_digests', {
    project_id,
    row_digests: row_digests.slice(1),
  })
  expect((await update(digest, [{ append: { row: {} } }])).status).toBe(413)
  expect(
    (
      await update(
        digest,
        Array.from({ length: 100_000 }, () => ({ pop: { index: 999_999 - 100_000 } })),
      )
    ).status,
  ).toBe(200)
  expect(
    (
      await update(
        digest,
        Array.from({ length: 100_001 }, () => ({ pop: { index: 0 } })),
      )
    ).status,
  ).toBe(413)
})

test('other entities see no tables of a project', async () => {
  const { digest } = await create([{ secret: 1 }])
  const stranger = createTraceClient(own.server.url, await addKey(own.database.pool, 'others'))
  const bodies: [string, object][] = [
    ['/table/query', { project_id, digest }],
    ['/table/query_stream', { project_id, digest }],
    ['/table/query_stats', { project_id, digest }],
    ['/table/query_stats_batch', { project_id, digests: [digest] }],
    ['/table/create', { table: { project_id, rows: [] } }],
    ['/table/create_from_digests', { project_id, row_digests: [] }],
    ['/table/update', { project_id, base_digest: digest, updates: [] }],
  ]
  for (const [path, body] of bodies) expect([path, await stranger.post(path, body)]).toEqual([path, refusal(403, /./)])
  const inOwn = { project_id: 'others/p', digest }
  expect(await stranger.call('/table/query', inOwn)).toEqual({ rows: [] })
  expect(await stranger.call('/table/query_stats', inOwn)).toEqual({ count: 0 })
  const row_digests = (await create([{ secret: 1 }])).row_digests
  const { digest: guessed } = await stranger.call<Row>('/table/create_from_digests', {
    project_id: 'others/p',
    row_digests,
  })
  expect(await stranger.call('/table/query', { project_id: 'others/p', digest: guessed })).toEqual({ rows: [] })
})
