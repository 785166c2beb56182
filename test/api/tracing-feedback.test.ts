import { beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../apiserver/tracing/ids.ts'
import { addKey, useApiServer } from '../support/api-server.ts'
import { createTraceClient } from '../support/trace-client.ts'

const own = useApiServer({ LOG_LEVEL: 'warn' })
let key: string
let keyId: string
beforeAll(async () => {
  key = await addKey(own.database.pool, 'team')
  const { rows } = await own.database.pool.query<{ id: string }>("SELECT id FROM auth.api_keys WHERE entity = 'team'")
  keyId = rows[0]!.id
})

interface Row {
  id: string
  created_at: string
  payload: unknown
  [field: string]: unknown
}

async function post<T = Record<string, unknown>>(path: string, body: unknown, ownKey = key) {
  const response = await createTraceClient(own.server.url, ownKey).send('POST', path, body)
  const text = await response.text()
  return { status: response.status, text, body: JSON.parse(text) as T }
}

let projects = 0
/** A new project for one test. */
const newProject = () => `team/feedback-${++projects}`
const callRef = (projectId: string, id = newId()) => `weave:///${projectId}/call/${id}`
const feedbackOf = (projectId: string, more: object = {}): Record<string, unknown> => ({
  project_id: projectId,
  weave_ref: callRef(projectId),
  feedback_type: 'custom',
  payload: { a: 1 },
  ...more,
})
const create = (feedback: object) => post<Row>('/feedback/create', feedback)
const query = async (projectId: string, more: object = {}) =>
  (await post<{ result: Row[] }>('/feedback/query', { project_id: projectId, ...more })).body.result
const eq = (field: string, value: unknown) => ({ $eq: [{ $getField: field }, { $literal: value }] })
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/) as string

describe('feedback', () => {
  test('of any type is stored and read unchanged', async () => {
    const p = newProject()
    const feedback = feedbackOf(p, { creator: 'Ann', payload: { b: [1.0, null], a: 'ü' } })
    const stored = await create(feedback)
    const { id } = stored.body
    expect(stored).toMatchObject({
      status: 200,
      body: { id: expect.any(String), created_at: time, wb_user_id: keyId, payload: { b: [1, null], a: 'ü' } },
    })
    const refs = { annotation_ref: null, runnable_ref: null, call_ref: null, trigger_ref: null }
    const { created_at } = stored.body
    expect(await query(p)).toEqual([{ ...feedback, ...refs, id, created_at, wb_user_id: keyId }])
  })

  test('has the key as its creator, not the name that the client sends', async () => {
    expect((await create(feedbackOf(newProject(), { wb_user_id: 'somebody' }))).body.wb_user_id).toBe(keyId)
  })

  test('of newer clients may have unknown members, and lack optional ones', async () => {
    const p = newProject()
    const more = { queue_id: 'q', scorer_tags: ['a'], span_agent_name: null, creator: null, id: null, call_ref: null }
    expect((await create(feedbackOf(p, more))).status).toBe(200)
    expect(await query(p, { fields: ['creator', 'call_ref'] })).toEqual([{ creator: null, call_ref: null }])
  })

  test('that is a score names its scorer', async () => {
    const p = newProject()
    const refs = {
      runnable_ref: `weave:///${p}/op/scorer:abc`,
      call_ref: callRef(p),
      trigger_ref: `weave:///${p}/object/monitor:def`,
    }
    const score = { feedback_type: 'wandb.runnable.scorer', payload: { output: { correct: true } }, ...refs }
    expect((await create(feedbackOf(p, score))).status).toBe(200)
    expect(await query(p, { fields: ['payload.output.correct', 'runnable_ref', 'call_ref', 'trigger_ref'] })).toEqual([
      { 'payload.output.correct': 'true', ...refs },
    ])
  })

  test('keeps the text of its payload', async () => {
    const p = newProject()
    const payload = '{"n":1.0,"big":123456789012345678901234567890,"tiny":1e-400,"huge":1e400,"b":2,"a":1,"b":3}'
    const body = JSON.stringify(feedbackOf(p)).replace('{"a":1}', payload)
    expect((await post('/feedback/create', body)).text).toContain(`"payload":${payload}`)
    expect((await post('/feedback/query', { project_id: p })).text).toContain(`"payload":${payload}`)
  })

  test('with hostile text is stored and found', async () => {
    const p = newProject()
    const hostile = String.raw`{"a":"nul \u0000 half \ud800","n":NaN,"deep":${'['.repeat(900)}${']'.repeat(900)}}`
    const body = JSON.stringify(feedbackOf(p, { creator: 'HOSTILE' })).replace('{"a":1}', hostile)
    expect((await post('/feedback/create', body.replace('HOSTILE', String.raw`\u0000`))).status).toBe(200)
    expect(await query(p, { fields: ['creator', 'payload.a', 'payload.n'] })).toEqual([
      { creator: '\uFFFD', 'payload.a': 'nul \uFFFD half \uFFFD', 'payload.n': '' },
    ])
  })

  const ruled = 'team/rules'

  test('is rejected if it breaks a rule of its type', async () => {
    const broken = feedbackOf(ruled, { feedback_type: 'wandb.reaction.1', payload: { emoji: 'ok' } })
    const reason = expect.stringContaining('exactly one emoji') as string
    expect(await create(broken)).toMatchObject({ status: 400, body: { reason } })
    const fault = { loc: ['body', 'batch', '1'], msg: reason, type: 'value_error' }
    const batch = [feedbackOf(ruled), broken]
    expect(await post('/feedback/batch/create', { batch })).toMatchObject({ status: 422, body: { detail: [fault] } })
    expect(await query(ruled)).toEqual([])
  })

  test.each<[string, object, string[]]>([
    ['a payload that is a list', { payload: [] }, ['body', 'payload']],
    ['no payload', { payload: undefined }, ['body', 'payload']],
    ['a payload that is null', { payload: null }, ['body', 'payload']],
    ['a number for a type', { feedback_type: 1 }, ['body', 'feedback_type']],
    ['a long id', { id: 'x'.repeat(257) }, ['body', 'id']],
  ])('is rejected with %s', async (_name, more, loc) => {
    const detail = [{ loc, msg: expect.any(String) as string, type: expect.any(String) as string }]
    expect(await create(feedbackOf(ruled, more))).toMatchObject({ status: 422, body: { detail } })
  })

  test('belongs to a project of the key', async () => {
    const elsewhere = await addKey(own.database.pool, 'elsewhere')
    const theirs = await post<Row>('/feedback/create', feedbackOf('elsewhere/p'), elsewhere)
    for (const project of ['elsewhere/p', 'elsewhere/none']) {
      expect(await create(feedbackOf(project))).toMatchObject({ status: 403, body: { reason: expect.any(String) } })
      expect((await post('/feedback/batch/create', { batch: [feedbackOf(project)] })).status).toBe(403)
      expect((await post('/feedback/query', { project_id: project })).status).toBe(403)
      const purge = { project_id: project, query: { $expr: eq('id', theirs.body.id) } }
      expect((await post('/feedback/purge', purge)).status).toBe(403)
      expect((await create({ ...feedbackOf(project), feedback_id: theirs.body.id })).status).toBe(403)
    }
    const mine = newProject()
    await create(feedbackOf(mine))
    expect(
      (await post('/feedback/purge', { project_id: mine, query: { $expr: eq('id', theirs.body.id) } })).status,
    ).toBe(200)
    await post('/feedback/replace', { ...feedbackOf(mine), feedback_id: theirs.body.id })
    await create(feedbackOf(mine, { id: theirs.body.id }))
    const kept = await post<{ result: Row[] }>('/feedback/query', { project_id: 'elsewhere/p' }, elsewhere)
    expect(kept.body.result.map(({ id }) => id)).toEqual([theirs.body.id])
    expect((await create(feedbackOf('team'))).status).toBe(400)
  })

  test('can be read and not written by read-only keys', async () => {
    const p = newProject()
    await create(feedbackOf(p))
    const reader = await addKey(own.database.pool, 'team', 'read')
    expect((await post<{ result: Row[] }>('/feedback/query', { project_id: p }, reader)).body.result).toHaveLength(1)
    expect((await post('/feedback/create', feedbackOf(p), reader)).status).toBe(403)
  })
})

test('calls are read with their feedback, oldest first', async () => {
  const p = newProject()
  const ids = [newId(), newId()] as [string, string]
  const batch = ids.map((id, index) => ({
    project_id: p,
    id,
    trace_id: newId(),
    op_name: 'op',
    started_at: `2026-01-31T12:00:0${index}Z`,
    ended_at: '2026-01-31T12:00:09Z',
    attributes: {},
    inputs: {},
    output: 1,
    summary: {},
  }))
  expect((await post(`/v2/${p}/calls/complete`, { batch })).status).toBe(200)
  const weave_ref = callRef(p, ids[0])
  const said = [
    feedbackOf(p, { weave_ref, payload: { n: 1 }, creator: 'Ann' }),
    feedbackOf(p, { weave_ref, feedback_type: 'wandb.note.1', payload: { note: 'ü' } }),
  ]
  const { body } = await post<{ res: Row[] }>('/feedback/batch/create', { batch: said })
  // Feedback in another project, on another project's call, on an object, and on an id that only begins like the
  // call's.
  await create(feedbackOf(newProject(), { weave_ref }))
  await create(feedbackOf(p, { weave_ref: callRef('team/other', ids[0]) }))
  await create(feedbackOf(p, { weave_ref: `weave:///${p}/object/${ids[0]}:v` }))
  await create(feedbackOf(p, { weave_ref: `${weave_ref}/attr/x` }))

  type Read = { calls: { summary: { weave: { feedback?: object[] } } }[] }
  const read = async (more: object) => {
    const found = await post<Read>('/calls/query', { project_id: p, filter: { call_ids: ids }, ...more })
    return found.body.calls.map(({ summary }) => summary.weave.feedback)
  }
  const refs = { annotation_ref: null, runnable_ref: null, call_ref: null, trigger_ref: null }
  const reported = said.map((one, index) => ({
    creator: null,
    ...refs,
    ...one,
    ...body.res[index],
    project_id: undefined,
  }))
  expect(await read({ include_feedback: true })).toEqual([reported, []])
  expect(await read({})).toEqual([undefined, undefined])
})

describe('an annotation', () => {
  const publish = async (projectId: string, name: string, val: object) => {
    const { body } = await post<{ digest: string }>('/obj/create', {
      obj: { project_id: projectId, object_id: name, val },
    })
    return `weave:///${projectId}/object/${name}:${body.digest}`
  }
  const specOf = (schema: unknown) => ({
    _type: 'AnnotationSpec',
    name: 'a',
    field_schema: schema,
    _class_name: 'AnnotationSpec',
    _bases: ['Object', 'BaseModel'],
  })
  const annotate = (projectId: string, ref: string, value: unknown) =>
    create(feedbackOf(projectId, { feedback_type: 'wandb.annotation.a', annotation_ref: ref, payload: { value } }))

  test('is a value that its specification allows', async () => {
    const p = newProject()
    const ref = await publish(p, 'a', specOf({ type: 'integer', minimum: 1, maximum: 5 }))
    expect(await annotate(p, ref, 3)).toMatchObject({ status: 200, body: { payload: { value: 3 } } })
    expect(await annotate(p, ref, 6)).toMatchObject({
      status: 400,
      body: { reason: 'Feedback payload does not match annotation spec' },
    })
    expect(await query(p, { fields: ['annotation_ref', 'payload.value'] })).toEqual([
      { annotation_ref: ref, 'payload.value': '3' },
    ])
  })

  test('needs a specification', async () => {
    const p = newProject()
    const other = await publish(p, 'a', { _type: 'Dataset', rows: [] })
    expect((await annotate(p, other, 1)).status).toBe(400)
    const missing = `weave:///${p}/object/a:missing`
    expect((await annotate(p, missing, 1)).status).toBe(404)
    // After a 404, clients would send each item again with a new id.
    const item = feedbackOf(p, { feedback_type: 'wandb.annotation.a', annotation_ref: missing, payload: { value: 1 } })
    expect((await post('/feedback/batch/create', { batch: [item] })).status).toBe(422)
  })

  test('is rejected if its specification cannot be used', async () => {
    const p = newProject()
    const circular = await publish(p, 'a', specOf({ $ref: '#' }))
    expect(await annotate(p, circular, 'a')).toMatchObject({ status: 400 })
  })
})

describe('a batch of feedback', () => {
  test('is stored in its order, with the ids of the client', async () => {
    const p = newProject()
    const batch = Array.from({ length: 250 }, (_, n) => feedbackOf(p, { id: newId(), payload: { n } })).toReversed()
    const { status, body } = await post<{ res: Row[] }>('/feedback/batch/create', { batch })
    expect({ status, ids: body.res.map(({ id }) => id) }).toEqual({ status: 200, ids: batch.map(({ id }) => id) })
    expect((await query(p)).map(({ payload }) => payload)).toEqual(batch.map(({ payload }) => payload))
    expect(await post('/feedback/batch/create', { batch: [] })).toMatchObject({ status: 200, body: { res: [] } })
  })

  test('that is repeated changes nothing, and gets the same answer', async () => {
    const p = newProject()
    const batch = [feedbackOf(p, { id: newId(), payload: { n: 1 } }), feedbackOf(p, { id: newId(), payload: { n: 2 } })]
    const first = await post('/feedback/batch/create', { batch })
    const more = feedbackOf(p, { id: newId() })
    const again = await post<{ res: Row[] }>('/feedback/batch/create', { batch: [...batch, more] })
    expect(again.body.res.slice(0, 2)).toEqual(first.body['res'])
    expect(await create({ ...batch[0], payload: { n: 'other' } })).toMatchObject({
      status: 200,
      body: { payload: { n: 1 } },
    })
    expect(await query(p)).toHaveLength(3)
  })

  test('may contain an id twice: the first one counts', async () => {
    const p = newProject()
    const id = newId()
    const batch = [feedbackOf(p, { id, payload: { n: 1 } }), feedbackOf(p, { id, payload: { n: 2 } })]
    const { body } = await post<{ res: Row[] }>('/feedback/batch/create', { batch })
    expect(body.res.map(({ payload }) => payload)).toEqual([{ n: 1 }, { n: 1 }])
    expect(await query(p)).toHaveLength(1)
  })

  test('that many clients send concurrently, in any order, is stored once', async () => {
    const p = newProject()
    const batch = Array.from({ length: 100 }, () => feedbackOf(p, { id: newId() }))
    const shuffled = Array.from({ length: 8 }, () => ({ batch: batch.toSorted(() => Math.random() - 0.5) }))
    const answers = await Promise.all(shuffled.map((body) => post('/feedback/batch/create', body)))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    expect(await query(p, { fields: ['count(*)'] })).toEqual([{ 'count(*)': 100 }])
  })

  test('may contain several projects, and is stored as a whole or not at all', async () => {
    const [p, q] = [newProject(), newProject()]
    const both = [feedbackOf(p, { payload: { n: 1 } }), feedbackOf(q, { payload: { n: 2 } }), feedbackOf(p)]
    const { body } = await post<{ res: Row[] }>('/feedback/batch/create', { batch: both })
    expect(body.res.map(({ payload }) => payload)).toEqual([{ n: 1 }, { n: 2 }, { a: 1 }])
    expect([(await query(p)).length, (await query(q)).length]).toEqual([2, 1])
    const foreign = { batch: [feedbackOf(p), feedbackOf('elsewhere/p')] }
    expect((await post('/feedback/batch/create', foreign)).status).toBe(403)
    expect(await query(p)).toHaveLength(2)
  })
})

describe('feedback is found', () => {
  const p = 'team/found'
  const target = callRef(p)
  beforeAll(async () => {
    const notes = [10, 9, 100].map((n) => feedbackOf(p, { payload: { n, s: `v${n}` }, creator: `c${n}` }))
    const reaction = feedbackOf(p, {
      feedback_type: 'wandb.reaction.1',
      weave_ref: target,
      payload: { emoji: '🎉' },
      id: 'given',
    })
    await post('/feedback/batch/create', { batch: [...notes, reaction] })
  })
  const idsOf = (rows: Row[]) => rows.map((row) => row['payload.s'] || 'reaction')
  const all = ['v10', 'v9', 'v100', 'reaction']

  test.each<[string, object, string[]]>([
    ['all, oldest first', {}, all],
    ['by a constant true condition', { query: { $expr: { $eq: [{ $literal: '1' }, { $literal: '1' }] } } }, all],
    ['by a constant false condition', { query: { $expr: { $eq: [{ $literal: '1' }, { $literal: '2' }] } } }, []],
    [
      'by a reaction',
      { query: { $expr: { $and: [eq('feedback_type', 'wandb.reaction.1'), eq('payload.emoji', '🎉')] } } },
      ['reaction'],
    ],
    ['by its subject', { query: { $expr: eq('weave_ref', target) } }, ['reaction']],
    ['by its id', { query: { $expr: eq('id', 'given') } }, ['reaction']],
    ['by its project', { query: { $expr: eq('project_id', p) } }, all],
    ['by another project, which finds nothing', { query: { $expr: eq('project_id', 'elsewhere/p') } }, []],
    ['by a number in its payload', { query: { $expr: eq('payload.n', 9) } }, ['v9']],
    ['by its creator', { query: { $expr: { $in: [{ $getField: 'creator' }, [{ $literal: 'c9' }]] } } }, ['v9']],
    ['newest first', { sort_by: [{ field: 'created_at', direction: 'desc' }] }, all.toReversed()],
    [
      'by numbers, smallest first',
      { sort_by: [{ field: 'payload.n', direction: 'asc' }] },
      ['v9', 'v10', 'v100', 'reaction'],
    ],
    [
      'by numbers, largest first',
      { sort_by: [{ field: 'payload.n', direction: 'desc' }] },
      ['v100', 'v10', 'v9', 'reaction'],
    ],
    ['in pages', { limit: 2, offset: 1 }, ['v9', 'v100']],
    ['beyond its end', { offset: 4 }, []],
    ['in an empty page', { limit: 0 }, []],
    ['with everything null', { query: null, sort_by: null, limit: null, offset: null }, all],
  ])('%s', async (_name, asked, expected) => {
    expect(idsOf(await query(p, { fields: ['payload.s'], ...asked }))).toEqual(expected)
  })

  test('with the requested fields, under their names', async () => {
    const first = { limit: 1, offset: 0 }
    expect(
      await query(p, { ...first, fields: ['creator', 'payload.n', 'payload', 'payload.none', 'project_id'] }),
    ).toEqual([{ creator: 'c10', 'payload.n': '10', payload: { n: 10, s: 'v10' }, 'payload.none': '', project_id: p }])
    expect(await query(p, { fields: [], ...first })).toMatchObject([{ creator: 'c10' }])
    const sorted = [{ field: 'payload.n', direction: 'asc' }]
    expect(await query(p, { fields: ['count(*)'], sort_by: sorted })).toEqual([{ 'count(*)': 4 }])
  })

  test.each<[string, object, number]>([
    ['an unknown field', { fields: ['nothing'] }, 403],
    ['a count with more', { fields: ['id', 'count(*)'] }, 400],
    ['an unknown direction', { sort_by: [{ field: 'id', direction: 'up' }] }, 422],
  ])('but not %s', async (_name, asked, status) => {
    expect((await post('/feedback/query', { project_id: p, ...asked })).status).toBe(status)
  })

  test('in an empty project', async () => {
    expect(await query('team/never')).toEqual([])
  })

  test('also in large amounts', async () => {
    const q = newProject()
    for (let page = 0; page < 3; page++) {
      const batch = Array.from({ length: 1_000 }, (_, n) => feedbackOf(q, { payload: { n: page * 1_000 + n } }))
      await post('/feedback/batch/create', { batch })
    }
    const found = await query(q, { fields: ['payload.n'] })
    expect(found.map((row) => Number(row['payload.n']))).toEqual(Array.from({ length: 3_000 }, (_, n) => n))
  })
})

describe('feedback is purged', () => {
  const purge = (projectId: string, $expr: unknown) =>
    post('/feedback/purge', { project_id: projectId, query: { $expr } })

  test('by one id, or by several', async () => {
    const p = newProject()
    const ids = ['a', 'b', 'c', 'd']
    await post('/feedback/batch/create', { batch: ids.map((id) => feedbackOf(p, { id })) })
    expect(await purge(p, eq('id', 'a'))).toMatchObject({ status: 200, body: {} })
    expect((await purge(p, { $or: [eq('id', 'b'), eq('id', 'd'), eq('id', 'none')] })).status).toBe(200)
    expect((await purge(p, eq('id', 'a'))).status).toBe(200)
    expect((await query(p)).map(({ id }) => id)).toEqual(['c'])
  })

  test('not by other conditions', async () => {
    const p = newProject()
    await create(feedbackOf(p, { id: 'a' }))
    const reason = expect.stringContaining('Can only purge') as string
    expect(await purge(p, eq('creator', 'a'))).toMatchObject({ status: 400, body: { reason } })
    expect(await query(p)).toHaveLength(1)
  })

  test('when it is replaced, unless the replacement is invalid', async () => {
    const p = newProject()
    const old = (await create(feedbackOf(p, { payload: { n: 1 } }))).body.id
    const replacing = { ...feedbackOf(p, { payload: { n: 2 } }), feedback_id: old }
    expect((await post('/feedback/replace', { ...replacing, call_ref: callRef(p) })).status).toBe(400)
    expect((await query(p)).map(({ id }) => id)).toEqual([old])
    const { status, body } = await post<Row>('/feedback/replace', replacing)
    expect({ status, payload: body.payload }).toEqual({ status: 200, payload: { n: 2 } })
    expect((await query(p)).map(({ id, payload }) => ({ id, payload }))).toEqual([{ id: body.id, payload: { n: 2 } }])
    const replacement = { ...feedbackOf(p, { payload: { n: 3 } }), feedback_id: body.id, id: body.id }
    expect(await post('/feedback/replace', replacement)).toMatchObject({
      status: 200,
      body: { id: body.id, payload: { n: 3 } },
    })
    expect((await post('/feedback/replace', feedbackOf(p))).status).toBe(422)
  })

  test('when the new one also names a third, which stays', async () => {
    const p = newProject()
    const [old, third] = [await create(feedbackOf(p)), await create(feedbackOf(p, { payload: { n: 3 } }))]
    const replacing = feedbackOf(p, { payload: { n: 2 }, feedback_id: old.body.id, id: third.body.id })
    const { status, body } = await post<Row>('/feedback/replace', replacing)
    expect({ status, payload: body.payload }).toEqual({ status: 200, payload: { n: 2 } })
    expect((await query(p)).map(({ id, payload }) => ({ id, payload }))).toEqual([
      { id: third.body.id, payload: { n: 3 } },
      { id: body.id, payload: { n: 2 } },
    ])
  })
})
