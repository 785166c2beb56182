import { createHash, randomUUID } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { addKey, useApiServer } from '../support/api-server.ts'
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

const isoTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/) as string

interface Created {
  digest: string
}
interface Obj extends Record<string, unknown> {
  digest: string
  version_index: number
  is_latest: number
  val: unknown
}

const create = async (object_id: string, val: unknown, more: object = {}) =>
  (await client.call<Created>('/obj/create', { obj: { project_id, object_id, val, ...more } })).digest
const read = async (object_id: string, digest: string, more: object = {}) =>
  (await client.call<{ obj: Obj }>('/obj/read', { project_id, object_id, digest, ...more })).obj
const list = async (more: object = {}) =>
  (await client.call<{ objs: Obj[] }>('/objs/query', { project_id, ...more })).objs
const remove = (object_id: string, digests: string[] | null = null) =>
  client.post('/obj/delete', { project_id, object_id, digests })
const refusal = (status: number, reason: RegExp | string, more: object = {}) => ({
  status,
  body: { reason: typeof reason === 'string' ? reason : (expect.stringMatching(reason) as string), ...more },
})
const shorten = (objs: Obj[]) =>
  objs.map(({ object_id, val, version_index, is_latest }) => [object_id, val, version_index, is_latest])

describe('an object', () => {
  test('is read as it was published', async () => {
    const val = { b: [1, 2.5, null], a: 'é' }
    const created = await client.post('/obj/create', { obj: { project_id, object_id: 'thing', val } })
    const canonical = String.raw`{"a": "\u00e9", "b": [1, 2.5, null]}`
    const digest = createHash('sha256').update(canonical).digest('base64url').replaceAll('-', 'X').replaceAll('_', 'Y')
    expect(created).toEqual({ status: 200, body: { digest, object_id: 'thing' } })
    expect(await read('thing', digest)).toEqual({
      project_id,
      object_id: 'thing',
      created_at: isoTime,
      deleted_at: null,
      digest,
      version_index: 0,
      is_latest: 1,
      kind: 'object',
      base_object_class: null,
      leaf_object_class: null,
      val,
      wb_user_id: expect.any(String) as string,
      size_bytes: null,
    })
    expect(await read('thing', digest, { metadata_only: true })).toMatchObject({ val: {}, digest })
  })

  test('keeps its text: numbers of any size and the order of keys; hostile characters are replaced', async () => {
    const val = String.raw`{"z" : 1e400, "10": 123456789012345678901234567890, "2": 1.0, "nul": "a\u0000b", "half": "\ud800", "no": NaN, "__proto__": {"x": 1}}`
    const { body } = await client.post(
      '/obj/create',
      `{"obj":{"project_id":"${project_id}","object_id":"o","val":${val}}}`,
    )
    const { digest } = body as Created
    const text = await client.text('/obj/read', { project_id, object_id: 'o', digest })
    expect(text).toContain(
      String.raw`"val":{"z" : 1e400, "10": 123456789012345678901234567890, "2": 1.0, "nul": "a\ufffdb", "half": "\ufffd", "no": null, "__proto__": {"x": 1}}`,
    )
  })

  test('may be any value of any depth', async () => {
    for (const val of [null, true, 0, '', [], {}, 'x'.repeat(3_000_000)]) {
      expect((await read('any', await create('any', val))).val).toEqual(val)
    }
    const deep = `{"obj":{"project_id":"${project_id}","object_id":"deep","val":${'['.repeat(20_000)}${']'.repeat(20_000)}}}`
    const { status, body } = await client.post('/obj/create', deep)
    expect(status).toBe(200)
    expect(JSON.stringify((await read('deep', (body as Created).digest)).val)).toMatch(/^\[{400,500}null\]+$/)
  })

  test('has versions, which are found by digest, by index and as latest', async () => {
    const digests = [await create('v', 1), await create('v', 2), await create('v', 3)]
    for (const [index, digest] of digests.entries()) {
      const version = await read('v', `v${index}`)
      expect(version).toMatchObject({ digest, version_index: index, is_latest: index === 2 ? 1 : 0, val: index + 1 })
      expect(await read('v', digest)).toEqual(version)
    }
    expect(await read('v', 'latest')).toEqual(await read('v', 'v2'))
    for (const unknown of ['v3', 'v99999999999999999999', 'nothing', '', 'v-1', 'v1x']) {
      expect(await client.post('/obj/read', { project_id, object_id: 'v', digest: unknown })).toEqual(
        refusal(404, `Obj v:${unknown} not found`),
      )
    }
  })

  test('that is published again becomes the latest version and keeps its index', async () => {
    const [first, second] = [await create('again', 'a'), await create('again', 'b')]
    const before = await read('again', first)
    expect(await create('again', 'a')).toBe(first)
    expect(await read('again', 'latest')).toEqual({ ...before, is_latest: 1 })
    expect(await read('again', second)).toMatchObject({ version_index: 1, is_latest: 0 })
    await create('again', 'c')
    expect(await read('again', 'latest')).toMatchObject({ version_index: 2 })
  })

  test('is an op if its value says so; an op and an object may have the same name', async () => {
    const op = { _type: 'CustomWeaveType', weave_type: { type: 'Op' }, files: { 'obj.py': 'x' } }
    await create('both', op)
    await create('both', { other: 1 })
    expect(shorten(await list())).toEqual([
      ['both', op, 0, 1],
      ['both', { other: 1 }, 0, 1],
    ])
    expect(shorten(await list({ filter: { is_op: true } }))).toEqual([['both', op, 0, 1]])
    expect((await read('both', 'latest')).kind).toBe('object')
  })

  test('has a name of letters of any script, without spaces', async () => {
    await create('Ünïcode_名前-1.2', 1)
    const spaced = await client.post('/obj/create', { obj: { project_id, object_id: 'a b', val: 1 } })
    expect(spaced).toEqual(refusal(403, /Invalid object name/))
  })

  test('is rejected when the client has computed another digest', async () => {
    const digest = await create('expected', { a: 1 })
    expect(await create('expected', { a: 1 }, { expected_digest: digest })).toBe(digest)
    const other = { obj: { project_id, object_id: 'expected', val: { a: 2 }, expected_digest: digest } }
    expect(await client.post('/obj/create', other)).toEqual(refusal(409, /digest/))
    expect(await list()).toHaveLength(1)
  })

  test.each<[string, object, object]>([
    ['no value', {}, { loc: ['body', 'obj', 'val'], type: 'missing' }],
    ['a number for a name', { val: 1, object_id: 1 }, { loc: ['body', 'obj', 'object_id'] }],
  ])('with %s is rejected', async (_, more, fault) => {
    const { status, body } = await client.post('/obj/create', { obj: { project_id, object_id: 'o', ...more } })
    expect({ status, body }).toMatchObject({ status: 422, body: { detail: [fault] } })
  })
})

describe('digests contain the internal form of references', () => {
  const digestOf = (canonical: string) =>
    createHash('sha256').update(canonical).digest('base64url').replaceAll('-', 'X').replaceAll('_', 'Y')
  const numberOf = async (id: string) => {
    const asked = { project_ids: [id] }
    const found = await client.call<{ internal_project_id: string }[]>('/service/projects_info', asked)
    return found[0]!.internal_project_id
  }

  test('so that the digest of a client is accepted', async () => {
    const held = await create('held', 1)
    const other = `team/${randomUUID()}`
    await client.call('/obj/create', { obj: { project_id: other, object_id: 'x', val: 1 } })
    const val = { a: `weave:///${project_id}/object/held:${held}`, b: [`weave:///${other}/object/x:y`] }
    const [number, foreign] = [await numberOf(project_id), await numberOf(other)]
    const scheme = 'weave-trace-internal:///'
    const canonical = `{"a": "${scheme}${number}/object/held:${held}", "b": ["${scheme}${foreign}/object/x:y"]}`
    const expected_digest = digestOf(canonical)
    expect(await create('holder', val, { expected_digest })).toBe(expected_digest)
    expect((await read('holder', expected_digest)).val).toEqual(val)
    const again = { project_id, object_id: 'holder', val, expected_digest: digestOf(JSON.stringify(val)) }
    expect(await client.post('/obj/create', { obj: again })).toMatchObject({ status: 409 })

    const rows = [val, { n: 1 }]
    const made = await client.call<{ row_digests: string[] }>('/table/create', { table: { project_id, rows } })
    expect(made.row_digests).toEqual([expected_digest, digestOf('{"n": 1}')])
    const empty = await client.call<Created>('/table/create', { table: { project_id, rows: [] } })
    const changed = { project_id, base_digest: empty.digest, updates: [{ append: { row: val } }] }
    expect(await client.call('/table/update', changed)).toMatchObject({ updated_row_digests: [expected_digest] })
  })

  test('a reference to a project that does not exist, or of another entity, stays', async () => {
    const val = { a: 'weave:///team/nowhere/object/o:d', b: 'weave:///others/p/object/o:d' }
    const canonical = '{"a": "weave:///team/nowhere/object/o:d", "b": "weave:///others/p/object/o:d"}'
    expect(await create('stray', val)).toBe(digestOf(canonical))
  })
})

describe('publishing at the same time', () => {
  test('gives every version its own index, without gaps', async () => {
    await Promise.all(Array.from({ length: 60 }, (_, index) => create('race', { value: index % 12 })))
    const versions = await list()
    expect(versions.map(({ version_index }) => version_index).toSorted((a, b) => a - b)).toEqual([...Array(12).keys()])
    expect(versions.filter(({ is_latest }) => is_latest === 1)).toHaveLength(1)
    expect(new Set(versions.map(({ digest }) => digest)).size).toBe(12)
  })

  test('together with deletions leaves one live latest version, or none', async () => {
    for (let round = 0; round < 5; round++) {
      const name = `mixed${round}`
      await create(name, 0)
      await Promise.all(
        Array.from({ length: 24 }, (_, index) => (index % 3 === 0 ? remove(name) : create(name, index % 4))),
      )
      const live = await list({ filter: { object_ids: [name] } })
      expect(live.filter(({ is_latest }) => is_latest === 1)).toHaveLength(live.length === 0 ? 0 : 1)
      const indexes = await own.database.pool.query<{ index: number }>(
        'SELECT version_index AS index FROM tracing.object_versions WHERE object_id = $1 ORDER BY 1',
        [name],
      )
      expect(indexes.rows.map(({ index }) => index)).toEqual([...indexes.rows.keys()])
    }
  })
})

describe('deletion', () => {
  test('hides versions, has the time of the deletion, and uses no index again', async () => {
    const digests = [await create('d', 1), await create('d', 2), await create('d', 3)]
    expect(await remove('d', ['latest'])).toEqual({ status: 200, body: { num_deleted: 1 } })
    const gone = refusal(404, /^d:v2 was deleted at \d/, { deleted_at: isoTime })
    for (const digest of [digests[2], 'v2']) {
      expect(await client.post('/obj/read', { project_id, object_id: 'd', digest })).toEqual(gone)
    }
    expect(await read('d', 'latest')).toMatchObject({ digest: digests[1], is_latest: 1 })
    expect(shorten(await list())).toEqual([
      ['d', 1, 0, 0],
      ['d', 2, 1, 1],
    ])
    expect((await read('d', await create('d', 4))).version_index).toBe(3)
    expect(await remove('d', ['v0', digests[1]!])).toEqual({ status: 200, body: { num_deleted: 2 } })
    expect(await remove('d')).toEqual({ status: 200, body: { num_deleted: 1 } })
    const latest = await client.post('/obj/read', { project_id, object_id: 'd', digest: 'latest' })
    expect(latest).toEqual(refusal(404, /^d:v3 was deleted at/, { deleted_at: isoTime }))
    expect(await list()).toEqual([])
  })

  test('is undone when the value is published again', async () => {
    const digest = await create('back', 'x')
    await create('back', 'y')
    await remove('back')
    expect(await create('back', 'x')).toBe(digest)
    expect(shorten(await list())).toEqual([['back', 'x', 0, 1]])
    expect((await read('back', 'latest')).deleted_at).toBeNull()
  })

  test('leaves the time and the user of the later publication', async () => {
    const digest = await create('again', 'x')
    const before = await read('again', digest)
    await remove('again')
    const colleague = createTraceClient(own.server.url, await addKey(own.database.pool, 'team'))
    await colleague.call('/obj/create', { obj: { project_id, object_id: 'again', val: 'x' } })
    const after = await read('again', digest)
    expect(String(after['created_at']) > String(before['created_at'])).toBe(true)
    expect(after['wb_user_id']).not.toBe(before['wb_user_id'])
    // What is live keeps both.
    await create('again', 'x')
    expect(await read('again', digest)).toEqual(after)
  })

  test('is all or nothing', async () => {
    const digest = await create('some', 1)
    for (const digests of [['nothing'], [digest, 'nothing'], ['v0', 'v7'], ['v7']]) {
      expect(await remove('some', digests)).toEqual(refusal(404, /not found when deleting/))
    }
    expect(await remove('nobody')).toEqual(refusal(404, /not found when deleting/))
    const many = Array.from({ length: 101 }, (_, index) => `v${index}`)
    expect(await remove('some', many)).toEqual(refusal(400, /100/))
    expect(await list()).toHaveLength(1)
    expect(await remove('some', [digest, digest])).toEqual({ status: 200, body: { num_deleted: 1 } })
    expect(await remove('some')).toEqual(refusal(404, /not found when deleting/))
  })

  test('deletes every version that is named, and counts a version with several names once', async () => {
    const publishBoth = async () => {
      await create('both', { plain: true })
      await create('both', { _type: 'CustomWeaveType', weave_type: { type: 'Op' } })
    }
    await publishBoth()
    expect(await remove('both', ['latest'])).toEqual({ status: 200, body: { num_deleted: 2 } })
    await publishBoth()
    expect(await remove('both', ['v0'])).toEqual({ status: 200, body: { num_deleted: 2 } })
    const digest = await create('both', { plain: true })
    expect(await remove('both', ['v0', 'latest', digest])).toEqual({ status: 200, body: { num_deleted: 1 } })
    expect(await list()).toEqual([])
  })
})

describe('a list', () => {
  const classed = (name: string, ...bases: string[]) => ({
    _class_name: name,
    _bases: [...bases, 'Object', 'BaseModel'],
  })

  test('is filtered by names, kinds and classes', async () => {
    await create('a', classed('Dataset'))
    await create('b', classed('Mine', 'Model'))
    await create('c', { plain: true })
    await create('c', { plain: false })
    const names = async (filter: object) => (await list({ filter })).map(({ object_id }) => object_id)
    expect(await names({})).toEqual(['a', 'b', 'c', 'c'])
    expect(await names({ object_ids: ['a', 'c'] })).toEqual(['a', 'c', 'c'])
    expect(await names({ object_ids: [] })).toEqual(['a', 'b', 'c', 'c'])
    expect(await names({ latest_only: true })).toEqual(['a', 'b', 'c'])
    expect(await names({ latest_only: false, is_op: null })).toEqual(['a', 'b', 'c', 'c'])
    expect(await names({ is_op: true })).toEqual([])
    expect(await names({ base_object_classes: ['Model'] })).toEqual(['b'])
    expect(await names({ exclude_base_object_classes: ['Model'] })).toEqual(['a'])
    expect(await names({ leaf_object_classes: ['Mine', 'Dataset'] })).toEqual(['a', 'b'])
    expect(await names({ object_ids: ["a' OR true --", '\0'] })).toEqual([])
  })

  test('is sorted and paged', async () => {
    for (const name of ['b', 'a', 'c']) await create(name, name)
    const names = async (more: object) => (await list(more)).map(({ object_id }) => object_id).join('')
    const by = (field: string, direction: string) => ({ sort_by: [{ field, direction }] })
    expect(await names({})).toBe('bac')
    expect(await names(by('created_at', 'desc'))).toBe('cab')
    expect(await names(by('object_id', 'asc'))).toBe('abc')
    expect(await names(by('object_id', 'desc'))).toBe('cba')
    expect(await names(by('val', 'desc'))).toBe('bac')
    expect(await names({ ...by('object_id', 'asc'), limit: 1, offset: 1 })).toBe('b')
    expect(await names({ offset: 2 })).toBe('c')
    expect(await names({ limit: 0 })).toBe('')
    expect(await names({ limit: 1e300, offset: 0 })).toBe('bac')
    expect(await names({ offset: 1e300 })).toBe('')
    expect((await client.post('/objs/query', { project_id, limit: -1 })).status).toBe(400)
    expect((await client.post('/objs/query', { project_id, offset: 1.5 })).status).toBe(422)
    expect((await client.post('/objs/query', { project_id, ...by('val', 'up') })).status).toBe(422)
  })

  test('shows values or none, sizes and labels', async () => {
    await create('a', { x: 1 })
    const [bare] = await list({ metadata_only: true, include_storage_size: true, include_tags_and_aliases: true })
    expect(bare).toMatchObject({ val: {}, size_bytes: 7, tags: [], aliases: ['latest'] })
    const [plain] = await list()
    expect(plain).toMatchObject({ val: { x: 1 }, size_bytes: null })
    expect(plain).not.toHaveProperty('tags')
  })

  test('may be far larger than one chunk of a read', async () => {
    const text = 'x'.repeat(1_500_000)
    for (let index = 0; index < 8; index++) await create(`large${index}`, { index, text })
    const objs = await list()
    expect(objs.map(({ val }) => val)).toEqual(Array.from({ length: 8 }, (_, index) => ({ index, text })))
  })
})

describe('tags and aliases', () => {
  const labelsOf = async (object_id: string, digest: string) => {
    const { tags, aliases } = await read(object_id, digest, { include_tags_and_aliases: true })
    return { tags, aliases }
  }

  test('belong to versions; an alias can be moved', async () => {
    const [first, second] = [await create('l', 1), await create('l', 2)]
    const tagsOf = `/objs/l/versions/${first}/tags`
    expect(await client.put(tagsOf, { project_id, tags: ['b', 'a', 'a'] })).toEqual({ status: 200, body: {} })
    await client.put(tagsOf, { project_id, tags: ['c'] })
    await client.post(`${tagsOf}/remove`, { project_id, tags: ['b', 'unknown'] })
    await client.put('/objs/l/aliases', { project_id, digest: first, aliases: ['production', 'old'] })
    expect(await labelsOf('l', first)).toEqual({ tags: ['a', 'c'], aliases: ['old', 'production'] })
    expect((await read('l', 'production')).digest).toBe(first)
    await client.put('/objs/l/aliases', { project_id, digest: 'latest', aliases: ['production'] })
    expect(await labelsOf('l', first)).toEqual({ tags: ['a', 'c'], aliases: ['old'] })
    expect(await labelsOf('l', second)).toEqual({ tags: [], aliases: ['latest', 'production'] })
    const digestsOf = async (filter: object) => (await list({ filter })).map(({ digest }) => digest)
    expect(await digestsOf({ tags: ['a', 'z'] })).toEqual([first])
    expect(await digestsOf({ aliases: ['old', 'production'] })).toEqual([first, second])
    expect(await digestsOf({ aliases: ['latest'] })).toEqual([second])
    expect(await client.get(`/tags?project_id=${project_id}`)).toEqual({ status: 200, body: { tags: ['a', 'c'] } })
    const aliases = { aliases: ['old', 'production'] }
    expect(await client.get(`/aliases?project_id=${project_id}`)).toEqual({ status: 200, body: aliases })
    await client.post('/objs/l/aliases/remove', { project_id, aliases: ['old', 'unknown'] })
    expect(await client.post('/obj/read', { project_id, object_id: 'l', digest: 'old' })).toMatchObject({ status: 404 })
    expect(await remove('l', ['production'])).toMatchObject({ body: { num_deleted: 1 } })
    const body = await client.post('/obj/read', { project_id, object_id: 'l', digest: 'production' })
    expect(body).toEqual(refusal(404, /^l:v1 was deleted/, { deleted_at: isoTime }))
    expect(await client.get(`/aliases?project_id=${project_id}`)).toEqual({ status: 200, body: { aliases: [] } })
  })

  test('an alias is no name of a version', async () => {
    await create('l', 1)
    const set = (alias: string) =>
      client.put('/objs/l/aliases', { project_id, digest: 'v0', aliases: [alias] }).then(({ status }) => status)
    expect([await set('v3'), await set('v3x')]).toEqual([400, 200])
  })

  test('of unknown versions are a 404', async () => {
    await create('l', 1)
    expect((await client.put('/objs/l/versions/v1/tags', { project_id, tags: ['a'] })).status).toBe(404)
    expect((await client.put('/objs/x/versions/v0/tags', { project_id, tags: ['a'] })).status).toBe(404)
    expect((await client.put('/objs/a%00b/versions/%00/tags', { project_id, tags: ['a'] })).status).toBe(404)
    expect((await client.post('/objs/a%00b/aliases/remove', { project_id, aliases: ['a'] })).status).toBe(403)
    expect((await client.put('/objs/l/aliases', { project_id, digest: 'x', aliases: ['a'] })).status).toBe(404)
    expect((await client.get(`/tags?project_id=${project_id}%00`)).status).toBe(400)
    expect((await client.get('/tags')).status).toBe(422)
  })
})

describe('a class of the server', () => {
  test('is named by the members of a value', async () => {
    const val = { base_url: 'http://x', api_key_name: 'KEY', other: 1 }
    const digest = await create('provider', val, { builtin_object_class: 'Provider' })
    const kept = {
      _type: 'Provider',
      ...val,
      _class_name: 'Provider',
      _bases: ['BaseObject', 'BaseModel'],
    }
    expect(await read('provider', digest)).toMatchObject({
      val: kept,
      base_object_class: 'Provider',
      leaf_object_class: 'Provider',
    })
    expect(await create('provider', kept, { builtin_object_class: 'Provider' })).toBe(digest)
  })

  test.each<[string, unknown, string]>([
    ['is not an object', [1], 'Provider'],
    ['names another class', { _class_name: 'Mine', _bases: ['Object', 'BaseModel'] }, 'Provider'],
  ])('rejects a value that %s', async (_, val, builtin_object_class) => {
    const obj = { project_id, object_id: 'o', val, builtin_object_class }
    expect(await client.post('/obj/create', { obj })).toEqual(refusal(400, /./))
    expect(await list()).toEqual([])
  })
})

describe('other keys', () => {
  test('of other entities see no objects of a project, and cannot find out whether it exists', async () => {
    const digest = await create('mine', 1)
    const stranger = createTraceClient(own.server.url, await addKey(own.database.pool, 'others'))
    const paths: [string, object][] = [
      ['/obj/read', { object_id: 'mine', digest }],
      ['/objs/query', {}],
      ['/obj/delete', { object_id: 'mine' }],
      ['/obj/create', { obj: { project_id, object_id: 'mine', val: 2 } }],
      ['/objs/mine/aliases/remove', { aliases: ['a'] }],
    ]
    for (const [path, body] of paths) {
      const answer = await stranger.post(path, { project_id, ...body })
      const absent = JSON.parse(JSON.stringify({ project_id, ...body }).replaceAll(project_id, 'team/never')) as object
      expect(answer).toEqual(refusal(403, /./))
      expect(await stranger.post(path, absent)).toEqual(answer)
    }
    const ownProject = { project_id: 'others/p', object_id: 'mine', digest }
    expect(await stranger.post('/obj/read', ownProject)).toEqual(refusal(404, `Obj mine:${digest} not found`))
    expect(await stranger.post('/objs/query', { project_id: 'others/p' })).toEqual({ status: 200, body: { objs: [] } })
    expect(shorten(await list())).toEqual([['mine', 1, 0, 1]])
  })

  test('with the role read may not publish or delete', async () => {
    await create('mine', 1)
    const reader = createTraceClient(own.server.url, await addKey(own.database.pool, 'team', 'read'))
    expect((await reader.post('/obj/read', { project_id, object_id: 'mine', digest: 'v0' })).status).toBe(200)
    expect((await reader.post('/objs/query', { project_id })).status).toBe(200)
    expect((await reader.post('/obj/delete', { project_id, object_id: 'mine' })).status).toBe(403)
    expect((await reader.put('/objs/mine/aliases', { project_id, digest: 'v0', aliases: ['a'] })).status).toBe(403)
  })
})
