import { beforeAll, describe, expect, test } from 'vitest'
import { addKey, useApiServer } from '../support/api-server.ts'
import { createTraceClient, type TraceClient } from '../support/trace-client.ts'

const own = useApiServer({ LOG_LEVEL: 'error' })
let member: TraceClient
let reader: TraceClient
let others: TraceClient
beforeAll(async () => {
  const client = async (entity: string, role?: string) =>
    createTraceClient(own.server.url, await addKey(own.database.pool, entity, role))
  member = await client('team')
  reader = await client('team', 'read')
  others = await client('others')
})

const started = { trace_id: 't', op_name: 'op', started_at: '2026-11-21T10:00:00Z', attributes: {} }
const complete = (project: string, id: string, inputs: object) =>
  member.call(`/v2/${project}/calls/complete`, {
    batch: [
      { ...started, project_id: project, id, inputs, ended_at: '2026-11-21T10:00:01Z', output: null, summary: {} },
    ],
  })

describe('requests of clients at their start', () => {
  test.each(['/health', '/traces/health'])('%s answers without a key', async (path) => {
    const response = await fetch(own.server.url + path)
    expect([response.status, await response.json()]).toEqual([200, { status: 'ok' }])
  })

  test.each(['/server_info', '/traces/server_info'])('%s', async (path) => {
    expect(await member.get(path)).toEqual({
      status: 200,
      body: { min_required_weave_python_version: '0.0.1', trace_server_version: '0.54.0' },
    })
    expect((await fetch(own.server.url + path)).status).toBe(401)
  })
})

describe('an unknown path', () => {
  test.each([
    ['a path below /traces', 'POST', '/traces/unknown', 404],
    ['a path of the main interface below /traces', 'GET', '/traces/v1/models', 404],
    ['/traces itself', 'GET', '/traces', 404],
    ['a path that cannot be decoded', 'POST', '/traces/%zz', 404],
    ['a path of a newer server', 'POST', '/traces/v2/team/p/evaluation_runs', 404],
    ['a path of a newer server at the root', 'POST', '/v2/team/p/evaluation_runs', 404],
    ['a name of the group with another one after it', 'POST', '/calls/unknown', 404],
    ['annotation queues at the root', 'POST', '/annotation_queues', 404],
    ['an action at the root', 'POST', '/actions/execute_batch', 404],
    ['usage at the root', 'POST', '/trace/usage', 404],
    ['another method', 'GET', '/calls/stream_query', 405],
    ['another method below /traces', 'DELETE', '/traces/calls/stream_query', 405],
    ['another method of a read', 'POST', '/server_info', 405],
  ])('%s gets an error in the form of the group', async (_, method, path, status) => {
    const response = await member.send(method, path)
    const reason = status === 404 ? expect.stringMatching(/^(GET|POST) \/.* does not exist\. /) : 'Method Not Allowed'
    expect([response.status, await response.json()]).toEqual([status, { reason }])
    expect(response.headers.get('allow') !== null).toBe(status === 405)

    const withoutKey = await fetch(own.server.url + path, { method })
    expect([withoutKey.status, await withoutKey.json()]).toEqual([401, { reason: expect.any(String) as string }])
  })

  test.each(['/v1/models', '/v1/unknown', '/unknown'])('%s accepts only bearer keys', async (path) => {
    const response = await member.send('GET', path)
    expect([response.status, await response.json()]).toMatchObject([401, { detail: expect.any(String) as string }])
  })
})

const viewerQuery = 'query DefaultEntity { viewer { username defaultEntity { name } } }'
const projectQuery =
  'query Project($name: String!, $entityName: String!) { project(name: $name, entityName: $entityName) { name } }'
const upsertQuery =
  'mutation UpsertModel($name: String!, $entity: String!) { upsertModel(input: {name: $name, entityName: $entity}) { model { name description } } }'
const noAccess = {
  status: 200,
  body: {
    data: null,
    errors: [
      {
        message: expect.any(String) as string,
        extensions: { code: 'PERMISSION_ERROR' },
        path: [expect.any(String) as string],
      },
    ],
  },
}

describe('GraphQL', () => {
  test.each(['/graphql', '/traces/graphql'])('%s returns the caller', async (path) => {
    const answer = { data: { viewer: { username: 'team', defaultEntity: { name: 'team' } } } }
    expect(await reader.post(path, { query: viewerQuery })).toEqual({ status: 200, body: answer })
    const nulls = { query: viewerQuery, variables: null, operationName: null }
    expect(await reader.post(path, nulls)).toEqual({ status: 200, body: answer })
  })

  test('a project does not exist before its first write', async () => {
    const find = { query: projectQuery, variables: { name: 'new', entityName: 'team' }, operationName: 'Project' }
    expect(await reader.post('/graphql', find)).toEqual({ status: 200, body: { data: { project: null } } })
    const begin = { query: upsertQuery, variables: { name: 'new', entity: 'team', id: null } }
    const begun = { data: { upsertModel: { model: { name: 'new', description: null } } } }
    expect(await member.post('/graphql', begin)).toEqual({ status: 200, body: begun })
    expect(await member.post('/graphql', begin)).toEqual({ status: 200, body: begun })
    expect(await reader.post('/graphql', find)).toEqual({ status: 200, body: { data: { project: { name: 'new' } } } })
  })

  test('without an entity it is that of the key', async () => {
    const variables = { name: 'of-default', entity: null }
    const begun = { data: { upsertModel: { model: { name: 'of-default', description: null } } } }
    expect(await member.post('/graphql', { query: upsertQuery, variables })).toEqual({ status: 200, body: begun })
    expect(await others.post('/graphql', { query: projectQuery, variables: { name: 'of-default' } })).toEqual({
      status: 200,
      body: { data: { project: null } },
    })
  })

  test.each([
    ['an existing project of another entity', () => others, projectQuery, { name: 'new', entityName: 'team' }],
    ['an unknown project of another entity', () => others, projectQuery, { name: 'nothing', entityName: 'team' }],
    ['creating one for another entity', () => others, upsertQuery, { name: 'new', entity: 'team' }],
    ['creating one with a read-only key', () => reader, upsertQuery, { name: 'new', entity: 'team' }],
  ])('%s is not permitted', async (_, client, query, variables) => {
    expect(await client().post('/graphql', { query, variables })).toEqual(noAccess)
  })

  test.each([
    ['a name with a slash', projectQuery, { name: 'a/b', entityName: 'team' }],
    ['a name with NUL', upsertQuery, { name: 'a\0b\0'.repeat(200), entity: 'team' }],
    ['a name that is not a text', upsertQuery, { name: { a: 1 }, entity: 'team' }],
    ['no name', projectQuery, {}],
  ])('%s is an error', async (_, query, variables) => {
    expect(await member.post('/graphql', { query, variables })).toEqual({
      status: 200,
      body: { data: null, errors: [{ message: expect.any(String) as string, path: [expect.any(String) as string] }] },
    })
  })

  test('a request without a query is rejected', async () => {
    expect((await member.post('/graphql', { variables: [] })).status).toBe(422)
    expect((await member.post('/graphql', '{"query":')).status).toBe(422)
  })

  test('a request without a key has the answer that wandb shows', async () => {
    const response = await fetch(`${own.server.url}/graphql`, { method: 'POST', body: '{}' })
    const body = { errors: [{ message: expect.stringMatching(/no API key/) as string }] }
    expect([response.status, await response.json()]).toEqual([401, body])
  })
})

test("internal ids are returned for existing projects of the key's entity", async () => {
  await complete('team/one', 'a', {})
  await complete('team/two', 'a', {})
  // weave creates its project at its start.
  const variables = { name: 'begun', entity: 'team' }
  await member.call('/graphql', { query: upsertQuery, variables })
  const ids = [
    'team/one',
    'team/two',
    'team/begun',
    'team/none',
    'others/x',
    'team',
    '',
    'team/a/b',
    'team/\0',
    '\ud800/x',
  ]
  const { status, body } = await member.post('/service/projects_info', { project_ids: ids })
  const found = body as { external_project_id: string; internal_project_id: string }[]
  expect(status).toBe(200)
  expect(found.map(({ external_project_id: id }) => id).sort()).toEqual(['team/begun', 'team/one', 'team/two'])
  expect(new Set(found.map(({ internal_project_id: id }) => id)).size).toBe(3)
  expect(await member.post('/service/projects_info', { project_ids: ids })).toEqual({ status, body })
  expect((await others.post('/service/projects_info', { project_ids: ids })).body).toEqual([])
  expect((await member.post('/service/projects_info', { project_ids: 'team/one' })).status).toBe(422)
})

describe('the stored bytes of a project', () => {
  const nothing = {
    trace_storage_size_bytes: 0,
    objects_storage_size_bytes: 0,
    tables_storage_size_bytes: 0,
    files_storage_size_bytes: 0,
  }
  const stats = (more: object = {}) => member.post('/project/stats', { project_id: 'team/stats', ...more })

  test('are zero if it is empty', async () => {
    expect(await stats()).toEqual({ status: 200, body: nothing })
  })

  test('are counted by kind', async () => {
    const project = { project_id: 'team/stats' }
    await complete('team/stats', 'a', { x: 'é' })
    await complete('team/stats', 'b', {})
    await member.call('/calls/delete', { ...project, call_ids: ['b'] })
    await member.call('/obj/create', { obj: { ...project, object_id: 'o', val: { a: 1 } } })
    await member.call('/table/create', { table: { ...project, rows: [{ a: 1 }, { a: 1 }, { b: 22 }] } })
    const form = new FormData()
    form.set('project_id', 'team/stats')
    form.set('file', new Blob(['12345']), 'f')
    await member.call('/file/create', form)

    const kept = {
      trace_storage_size_bytes: Buffer.byteLength('{"x":"é"}') + '{}'.length + 'null'.length + '{}'.length,
      objects_storage_size_bytes: '{"a":1}'.length,
      tables_storage_size_bytes: '{"a":1}{"b":22}'.length,
      files_storage_size_bytes: 5,
    }
    expect(await stats()).toEqual({ status: 200, body: kept })
    const withoutTraces = { include_trace_storage_size: false, include_file_storage_size: null }
    expect(await stats(withoutTraces)).toEqual({ status: 200, body: { ...kept, trace_storage_size_bytes: 0 } })
    expect(await reader.post('/project/stats', project)).toEqual({ status: 200, body: kept })
  })

  test('are visible only to its entity, and the request must name at least one kind', async () => {
    expect((await others.post('/project/stats', { project_id: 'team/stats' })).status).toBe(403)
    const none = Object.fromEntries(
      ['trace', 'object', 'table', 'file'].map((kind) => [`include_${kind}_storage_size`, false]),
    )
    expect((await stats(none)).status).toBe(400)
  })
})

describe('completions without an engine', () => {
  const ask = (more: object = {}, inputs: object = {}) => ({
    project_id: 'team/chat',
    inputs: { model: 'nobody/trained', messages: [{ role: 'user', content: 'Hi' }], temperature: null, ...inputs },
    ...more,
  })
  const readCall = async (id: string) =>
    (await member.call<{ call: Record<string, unknown> | null }>('/call/read', { project_id: 'team/chat', id })).call

  // An existing model: it is looked up first.
  const known = 'known'
  beforeAll(async () => {
    await own.database.pool.query(
      `INSERT INTO training.base_models (name, names, namespace, cr_name) VALUES ($1, ARRAY[$1], 'trainyard', $1)`,
      [known],
    )
  })

  const error = 'The model nobody/trained does not exist. GET /v1/models lists all models.'
  type Answer = { response: { error: string }; weave_call_id: string }

  test('the answer and the call contain the error', async () => {
    const headers = { extra_headers: { api_key: 'secret' } }
    const answer = await member.call<Answer>('/completions/create', ask({ trace_id: 'tr', parent_id: 'pa' }, headers))
    expect(answer).toEqual({ response: { error }, weave_call_id: expect.any(String) as string })
    expect(await readCall(answer.weave_call_id)).toMatchObject({
      op_name: 'weave.completions_create',
      trace_id: 'tr',
      parent_id: 'pa',
      attributes: {},
      output: { error },
      exception: error,
      summary: { weave: { status: 'error' } },
    })
    const { inputs } = (await readCall(answer.weave_call_id))!
    expect(inputs).toEqual({ model: 'nobody/trained', messages: [{ role: 'user', content: 'Hi' }] })
  })

  test('the stream has the error after the id of the call', async () => {
    const response = await member.send('POST', '/traces/completions/create_stream', ask())
    const lines = (await response.text())
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, object>)
    const id = (lines[0]!['_meta'] as { weave_call_id: string }).weave_call_id
    expect(lines).toEqual([{ _meta: { weave_call_id: id } }, { error }])
    expect(await readCall(id)).toMatchObject({
      output: null,
      exception: error,
      summary: { weave: { status: 'error' } },
    })
  })

  test('untracked ones are not recorded', async () => {
    const before = await member.call('/calls/query_stats', { project_id: 'team/chat' })
    const untracked = ask({ track_llm_call: false })
    expect(await reader.post('/completions/create', untracked)).toEqual({
      status: 200,
      body: { response: { error }, weave_call_id: null },
    })
    expect((await reader.post('/completions/create_stream', untracked)).body).toEqual([{ error }])
    expect(await member.call('/calls/query_stats', { project_id: 'team/chat' })).toEqual(before)
  })

  test('the prefix of hosted models is ignored', async () => {
    const { response } = await member.call<Answer>(
      '/completions/create',
      ask({}, { model: 'coreweave/nobody/trained' }),
    )
    expect(response).toEqual({ error })
  })

  test('an unknown prompt is an error', async () => {
    await member.call('/obj/create', { obj: { project_id: 'team/chat', object_id: 'no-prompt', val: { a: 1 } } })
    const prompts = [
      'nothing',
      'nothing:v3',
      'a:b:c',
      'no-prompt',
      'weave:///team/chat/call/x',
      'weave:///others/p/object/o:d',
      'weave:///',
      'x\0:y',
    ]
    for (const prompt of prompts) {
      const { body, status } = await member.post('/completions/create', ask({}, { model: known, prompt }))
      expect([prompt, status, body]).toEqual([
        prompt,
        200,
        { response: { error: expect.stringContaining('Failed to resolve prompt: ') as string }, weave_call_id: null },
      ])
      expect((await member.post('/completions/create_stream', ask({}, { model: known, prompt }))).body).toEqual([
        { error: expect.stringContaining('Failed to resolve and apply prompt: ') as string },
      ])
    }
  })

  test('a missing variable is an error', async () => {
    const inputs = { model: known, messages: [{ role: 'user', content: '{a} {b}' }], template_vars: { a: 1 } }
    const { response } = await member.call<Answer>('/completions/create', ask({}, inputs))
    expect(response).toEqual({ error: 'Failed to resolve prompt: the template variable "b" is missing' })
  })

  test.each([
    ['no inputs', { project_id: 'team/chat' }, 422],
    ['inputs that are a list', { project_id: 'team/chat', inputs: [] }, 422],
    ['no model', ask({}, { model: null }), 422],
    ['a model that is a number', ask({}, { model: 1 }), 422],
    ['messages that are a text', ask({}, { messages: 'Hi' }), 422],
    ['variables that are a list', ask({}, { template_vars: [] }), 422],
    ['a project of another entity', { ...ask(), project_id: 'others/p' }, 403],
    ['an invalid project', { ...ask(), project_id: 'team' }, 400],
    [
      'inputs nested too deeply',
      `{"project_id":"team/chat","inputs":{"model":"m","messages":${'['.repeat(400)}${']'.repeat(400)}}}`,
      422,
    ],
  ])('%s is rejected', async (_, body, status) => {
    expect((await member.post('/completions/create', body)).status).toBe(status)
    expect((await member.post('/completions/create_stream', body)).status).toBe(status)
  })

  test('recording needs a key that may write', async () => {
    expect((await reader.post('/completions/create', ask())).status).toBe(403)
  })

  test('hostile text takes no time', async () => {
    const body = String.raw`{"project_id":"team/chat","inputs":{"model":"m\u0000\ud800","messages":[{"role":"user","content":"\u0000"}],"seed":1e400,"top_p":NaN}}`
    const { status, body: answer } = await member.post('/completions/create', body)
    expect([status, Object.keys((answer as Answer).response)]).toEqual([200, ['error']])
    expect(await readCall((answer as Answer).weave_call_id)).toMatchObject({ inputs: { model: 'm\ufffd\ufffd' } })
  })
})
