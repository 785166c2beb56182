import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Project } from '../../apiserver/tracing/projects.ts'
import { resolveStoredRefs } from '../../apiserver/tracing/refs/resolve-refs.ts'
import { createTracePool, type Pool } from '../../db/pool.ts'
import { createLogger } from '../../lib/log.ts'
import { addKey, useApiServer } from '../support/api-server.ts'
import { createTraceClient, type TraceClient } from '../support/trace-client.ts'

const own = useApiServer()
let client: TraceClient
let project_id: string
let traces: Pool

beforeAll(async () => {
  traces = createTracePool(own.database.databaseUrl, createLogger('test', 'silent'), 2)
  client = createTraceClient(own.server.url, await addKey(own.database.pool, 'team'))
})
afterAll(() => traces.end())
beforeEach(() => {
  project_id = `team/${randomUUID()}`
})

/** Quotes some letters, selected by the bits of a number. */
const quote = (text: string, bits: number) =>
  Array.from(text, (letter, index) =>
    (bits >> index) % 2 === 1 ? `%${letter.charCodeAt(0).toString(16)}` : letter,
  ).join('')

async function findProject(): Promise<Project> {
  const name = project_id.slice('team/'.length)
  const { rows } = await own.database.pool.query<{ number: number }>(
    'SELECT number FROM tracing.projects WHERE name = $1',
    [name],
  )
  return { number: rows[0]!.number, entity: 'team', name, id: project_id }
}

interface Created {
  digest: string
  row_digests: string[]
}

const create = async (object_id: string, val: unknown, inProject = project_id) => {
  const { digest } = await client.call<Created>('/obj/create', { obj: { project_id: inProject, object_id, val } })
  return `weave:///${inProject}/object/${object_id}:${digest}`
}
const createTable = async (rows: object[], inProject = project_id) => {
  const { digest, row_digests } = await client.call<Created>('/table/create', {
    table: { project_id: inProject, rows },
  })
  return { uri: `weave:///${inProject}/table/${digest}`, digests: row_digests }
}
const ask = (...refs: string[]) => client.post('/refs/read_batch', { refs })
const read = async (...refs: string[]) => (await client.call<{ vals: unknown[] }>('/refs/read_batch', { refs })).vals
const refusal = (status: number, reason: RegExp) => ({
  status,
  body: { reason: expect.stringMatching(reason) as string },
})

describe('references', () => {
  test('are replaced by values and their parts, in the requested order', async () => {
    const thing = await create('thing', { a: { 'b/c é': [10, { x: null }, 'text'] }, n: 1 })
    expect(
      await read(
        thing,
        `${thing}/attr/n`,
        `${thing}/key/a/key/b%2Fc%20%C3%A9/index/0`,
        `${thing}/attr/a/attr/b%2Fc%20%C3%A9/index/2`,
        `${thing}/attr/a/attr/b%2Fc%20%C3%A9/index/-1`,
        `${thing}/attr/n`,
        thing.replace('/object/', '/op/'),
      ),
    ).toEqual([
      { a: { 'b/c é': [10, { x: null }, 'text'] }, n: 1 },
      1,
      10,
      'text',
      'text',
      1,
      { a: { 'b/c é': [10, { x: null }, 'text'] }, n: 1 },
    ])
    expect(await read()).toEqual([])
  })

  test('to missing values are null', async () => {
    const thing = await create('thing', { list: [1], text: 'abc', none: null })
    for (const part of [
      '/attr/missing',
      '/attr/list/index/1',
      '/attr/list/index/-2',
      '/attr/list/index/99999999999999999999999',
      '/attr/list/attr/length',
      '/attr/text/index/0',
      '/attr/text/attr/length',
      '/attr/none/attr/a',
      '/attr/none',
      '/index/0',
      '/attr/__proto__',
      '/attr/constructor',
      '/attr/%00',
    ])
      expect([part, await read(thing + part)]).toEqual([part, [null]])
  })

  test('return values with their text unchanged', async () => {
    const val = String.raw`{"big": 100000000000000000001, "float": 1.0, "deep": {"z":1e400,"a":[]}}`
    const body = `{"obj":{"project_id":"${project_id}","object_id":"o","val":${val}}}`
    const { digest } = (await client.post('/obj/create', body)).body as Created
    const uri = `weave:///${project_id}/object/o:${digest}`
    expect(await client.text('/refs/read_batch', { refs: [uri, `${uri}/attr/big`, `${uri}/attr/deep`] })).toBe(
      `{"vals":[${val},100000000000000000001,{"z":1e400,"a":[]}]}`,
    )
  })

  test('can lead through objects and into rows of tables', async () => {
    const { uri: rows, digests } = await createTable([{ q: 'one', image: { w: 1 } }, { q: 'two' }])
    const dataset = await create('dataset', { _type: 'Dataset', rows })
    const evaluation = await create('evaluation', { dataset, part: `${dataset}/attr/_type`, self: null })
    const ofRow = (digest: string) => `${dataset}/attr/rows/id/${digest}`
    expect(
      await read(
        ofRow(digests[1]!),
        `${ofRow(digests[0]!)}/key/image/key/w`,
        `${evaluation}/attr/dataset`,
        `${evaluation}/attr/dataset/attr/rows`,
        `${evaluation}/attr/dataset/attr/rows/id/${digests[0]}/attr/q`,
        `${evaluation}/attr/part`,
        `${evaluation}/attr/part/attr/x`,
        ofRow(digests[1]!),
      ),
    ).toEqual([{ q: 'two' }, 1, dataset, rows, 'one', `${dataset}/attr/_type`, null, { q: 'two' }])
  })

  test('to a thousand rows of a table are read together', async () => {
    const { uri: rows, digests } = await createTable(Array.from({ length: 5_000 }, (_, i) => ({ i })))
    const dataset = await create('dataset', { rows })
    const refs = digests.slice(2_000, 3_000).map((digest) => `${dataset}/attr/rows/id/${digest}`)
    expect(await read(...refs)).toEqual(Array.from({ length: 1_000 }, (_, i) => ({ i: 2_000 + i })))
    expect(await ask(...refs, refs[0]!)).toEqual(refusal(400, /Too many refs/))
  })

  test('to or through deleted objects are null', async () => {
    const thing = await create('thing', { a: 1 })
    const other = await create('other', { thing })
    await client.call('/obj/delete', { project_id, object_id: 'thing' })
    expect(await read(thing, `${thing}/attr/a`, `${other}/attr/thing/attr/a`, other)).toEqual([
      null,
      null,
      null,
      { thing },
    ])
  })

  test('to unknown objects are a 404', async () => {
    const { uri: rows, digests } = await createTable([{ a: 1 }])
    const { digests: elsewhere } = await createTable([{ b: 1 }])
    const thing = await create('thing', { rows, lost: `weave:///${project_id}/object/gone:x` })
    const digest = thing.split(':').at(-1)
    for (const uri of [
      `weave:///${project_id}/object/nothing:x`,
      `weave:///${project_id}/object/other:${digest}`,
      `weave:///team/never/object/thing:${digest}`,
      `${thing}/attr/rows/id/x`,
      `${thing}/attr/rows/id/%00`,
      `${thing}/attr/rows/id/${elsewhere[0]}`,
      `${thing}/attr/lost/attr/a`,
    ])
      expect([uri, await ask(thing, uri)]).toEqual([uri, refusal(404, /not found/)])
    expect(await read(`${thing}/attr/rows/id/${digests[0]}`)).toEqual([{ a: 1 }])
  })

  test('that cannot be read are a 400', async () => {
    const { uri: rows } = await createTable([{ a: 1 }])
    const thing = await create('thing', { rows, list: [] })
    for (const uri of [
      '',
      'x',
      'wandb-artifact:///team/p/a',
      `weave-trace-internal:///1/object/thing:x`,
      rows,
      `weave:///${project_id}/call/x`,
      `weave:///${project_id}/object/thing:latest`,
      `weave:///${project_id}/object/thing:v0`,
      `${thing}/attr`,
      `${thing}/what/a`,
      `${thing}/attr/list/index/x`,
      `${thing}/attr/list/id/x`,
      `${thing}/id/x`,
      `${thing}/attr/rows/attr/a`,
    ])
      expect([uri, await ask(uri)]).toEqual([uri, refusal(400, /^Invalid ref/)])
    expect((await client.post('/refs/read_batch', { refs: [1] })).status).toBe(422)
    expect((await client.post('/refs/read_batch', { refs: null })).status).toBe(422)
  })

  test('that lead through a hundred objects or more are limited', async () => {
    let uri = await create('link', { end: true })
    for (let index = 0; index < 120; index++) uri = await create('link', { next: uri, index })
    const next = (count: number) => uri + '/attr/next'.repeat(count)
    expect(await read(next(50))).toMatchObject([expect.stringMatching(/^weave/)])
    expect(await ask(`${next(120)}/attr/end`)).toEqual(refusal(400, /too many/))
  })
})

describe('a read that is too large', () => {
  const reading = { add: () => {} }
  const large = 'x'.repeat(1_000_000)
  /** Different references to the same item of a list. */
  const spell = (list: string, count: number) =>
    Array.from({ length: count }, (_, zeros) => `${list}/index/${'0'.repeat(zeros)}1`)

  test('is a 413, also for parts that are repeated', async () => {
    const list = await create('list', [0, { large }])
    expect(await read(...spell(list, 100))).toEqual(Array.from({ length: 100 }, () => ({ large })))
    expect(await ask(...spell(list, 150))).toEqual(refusal(413, /^Request too large$/))
    const quoted = Array.from(
      { length: 256 },
      (_, bits) => `${list}/${quote('index', bits)}/${quote('001', bits >> 5)}`,
    )
    expect(new Set(quoted).size).toBe(256)
    expect(await read(...quoted)).toHaveLength(256)
  })

  test('leaves references from stored calls unresolved', async () => {
    const list = await create('list', [0, { large }])
    const small = await create('small', { a: 1 })
    const project = await findProject()
    const uris = [`${small}/attr/a`, ...spell(list, 150)]
    const texts = await resolveStoredRefs({ pool: traces, reading }, project, uris)
    expect(texts.get(`${small}/attr/a`)).toBe('1')
    expect(texts.size).toBeGreaterThan(100)
    expect(texts.size).toBeLessThan(150)
  })

  test('leaves a reference through too many objects unresolved', async () => {
    let uri = await create('link', { end: true })
    for (let index = 0; index < 101; index++) uri = await create('link', { next: uri, index })
    const far = `${uri}${'/attr/next'.repeat(101)}/attr/end`
    const found = await resolveStoredRefs({ pool: traces, reading }, await findProject(), [far, `${uri}/attr/index`])
    expect([...found]).toEqual([[`${uri}/attr/index`, '100']])
  })

  test('with long names has a short error', async () => {
    const name = 'x'.repeat(100_000)
    for (const uri of [`weave:///${project_id}/object/a:${name}`, `weave:///${project_id}/object/${name}:v0`, name]) {
      const { body } = await ask(uri)
      expect((body as { reason: string }).reason.length).toBeLessThan(300)
    }
    const unread = await client.post('/obj/read', { project_id, object_id: 'a', digest: name })
    expect(unread).toEqual(refusal(404, /^Obj a:x{198}… not found$/))
    const deleted = await client.post('/obj/delete', { project_id, object_id: 'a', digests: [name, 'b'] })
    expect(deleted).toEqual(refusal(404, /^Object a \(x{200}…\) not found when deleting\.$/))
    const updated = await client.post('/table/update', { project_id, base_digest: name, updates: [] })
    expect(updated).toEqual(refusal(404, /^Table x{200}… not found$/))
  })
})

describe('projects', () => {
  test('of the same entity are read together, but no reference leads from one into another', async () => {
    const elsewhere = `team/${randomUUID()}`
    const { uri: rows, digests } = await createTable([{ a: 1 }], elsewhere)
    const there = await create('there', { a: 1 }, elsewhere)
    const here = await create('here', { there, rows })
    expect(await read(there, here, `${here}/attr/there`, `${here}/attr/there/attr/a`)).toEqual([
      { a: 1 },
      { there, rows },
      there,
      null,
    ])
    expect(await read(`${here}/attr/rows/id/${digests[0]}`)).toEqual([null])
  })

  test('of other entities cannot be read, and no reference leads into them', async () => {
    const mine = await create('mine', { secret: 1 })
    const stranger = createTraceClient(own.server.url, await addKey(own.database.pool, 'others'))
    const body = { obj: { project_id: 'others/p', object_id: 'bridge', val: { mine } } }
    const { digest } = await stranger.call<Created>('/obj/create', body)
    const bridge = `weave:///others/p/object/bridge:${digest}`
    const closed = await stranger.post('/refs/read_batch', { refs: [bridge, mine] })
    expect(closed).toEqual(refusal(403, /./))
    const never = `weave:///team/never/object/x:${mine.split(':').at(-1)}`
    expect(await stranger.post('/refs/read_batch', { refs: [never] })).toEqual(closed)
    const through = { refs: [`${bridge}/attr/mine`, `${bridge}/attr/mine/attr/secret`] }
    expect(await stranger.call('/refs/read_batch', through)).toEqual({ vals: [mine, null] })
  })
})
