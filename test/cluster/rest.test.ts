import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { waitForLeases } from '../../db/changes.ts'
import { createPool, type Pool } from '../../db/pool.ts'
import { createLogger } from '../../lib/log.ts'
import { createRest } from '../support/rest.ts'
import { useStack } from '../support/stack.ts'

const stack = useStack()
const rest = createRest(stack)
const foreignKey = randomBytes(32).toString('hex')
const foreign = createRest(stack, foreignKey)

let pool: Pool
let model: { id: string; entity: string; name: string; address: string }

beforeAll(async () => {
  pool = createPool(stack.databaseUrl, createLogger('test', 'silent'), 2)
  const digest = createHash('sha256').update(foreignKey).digest()
  await pool.query('INSERT INTO auth.api_keys (entity, digest) VALUES ($1, $2)', [`other-${randomUUID()}`, digest])
  model = await rest.createModel()
})
afterAll(() => pool.end())

/** Sends bytes unchanged. Returns status, headers and the parsed body. */
async function sendRaw(
  method: string,
  route: string,
  options: { headers?: Record<string, string>; body?: string | Uint8Array<ArrayBuffer> } = {},
) {
  const headers = { authorization: `Bearer ${stack.apiKey}`, 'content-type': 'application/json', ...options.headers }
  const response = await fetch(stack.url + route, { method, headers, ...(options.body && { body: options.body }) })
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: text ? (JSON.parse(text) as unknown) : undefined }
}

const detailOf = (type: string, ...loc: string[]) => ({
  detail: expect.arrayContaining([{ loc, msg: expect.any(String) as string, type }]) as unknown,
})
const sentence = { detail: expect.any(String) as unknown }

describe('without a valid key', () => {
  const routes = [
    ['GET', '/v1/models'],
    ['GET', '/v1/system-check'],
    ['POST', '/v1/preview/models'],
    ['POST', '/v1/preview/training-jobs'],
    ['POST', '/v1/chat/completions'],
    ['GET', '/v1/preview/training-jobs/x/events'],
    ['GET', '/v1/nothing'],
    ['GET', '/'],
  ] as const

  test.each(routes)('%s %s is 401', async (method, route) => {
    for (const authorization of ['', 'Bearer', `Bearer ${stack.apiKey}x`, `Basic ${stack.apiKey}`, 'Bearer a b']) {
      const answer = await sendRaw(method, route, { headers: { authorization } })
      expect(answer).toMatchObject({ status: 401, body: sentence })
      expect(answer.headers.get('www-authenticate')).toBe('Bearer')
    }
  })

  test('the key is checked before the body', async () => {
    const answer = await sendRaw('POST', '/v1/preview/models', { headers: { authorization: 'Bearer x' }, body: '{"' })
    expect(answer.status).toBe(401)
  })

  test('the health check answers', async () => {
    expect(await sendRaw('GET', '/v1/health', { headers: { authorization: '' } })).toMatchObject({ status: 200 })
  })

  test('a revoked key is 401', async () => {
    const key = randomBytes(32).toString('hex')
    const digest = createHash('sha256').update(key).digest()
    await pool.query("INSERT INTO auth.api_keys (entity, digest) VALUES ('gone', $1)", [digest])
    expect((await createRest(stack, key).send('GET', '/v1/models')).status).toBe(200)
    await pool.query('UPDATE auth.api_keys SET revoked_at = now() WHERE digest = $1', [digest])
    await waitForLeases(pool)
    expect((await createRest(stack, key).send('GET', '/v1/models')).status).toBe(401)
  })
})

describe('errors of all operations', () => {
  const posts = ['/v1/preview/models', '/v1/preview/training-jobs', '/v1/chat/completions', '/v1/chat/completions/']

  test.each(posts)('POST %s rejects bodies that are not JSON objects', async (route) => {
    const bodies: [string | Uint8Array<ArrayBuffer> | undefined, string][] = [
      [undefined, 'json_invalid'],
      ['', 'json_invalid'],
      ['{"a":', 'json_invalid'],
      ['{"a":NaN}', 'json_invalid'],
      [new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 'json_invalid'],
      ['['.repeat(10_000), 'json_invalid'],
      [`{"a":${'['.repeat(200)}${']'.repeat(200)}}`, 'json_invalid'],
      ['[]', 'dict_type'],
      ['null', 'dict_type'],
      ['"text"', 'dict_type'],
      ['7', 'dict_type'],
    ]
    for (const [body, type] of bodies) {
      const answer = await sendRaw('POST', route, body === undefined ? {} : { body })
      expect(answer).toMatchObject({ status: 422, body: detailOf(type, 'body') })
    }
  })

  test.each(posts)('POST %s rejects other content types', async (route) => {
    const others = [
      { 'content-type': 'text/plain' },
      { 'content-type': 'multipart/form-data' },
      { 'content-encoding': 'gzip' },
    ]
    for (const headers of others) {
      expect(await sendRaw('POST', route, { headers, body: '{}' })).toMatchObject({ status: 415, body: sentence })
    }
  })

  test.each(posts)('POST %s rejects a body with too large a length, without reading it', async (route) => {
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const headers = { authorization: `Bearer ${stack.apiKey}`, 'content-length': String(2 ** 33) }
      const sent = httpRequest(stack.url + route, { method: 'POST', headers }, (response) => {
        resolve(response.statusCode)
        sent.destroy()
      })
      sent.once('error', reject)
      sent.write('{')
    })
    expect(status).toBe(413)
  })

  test('the error for a lone surrogate has its location', async () => {
    const body = String.raw`{"messages":[{"role":"user","content":"\ud800"}]}`
    expect(await sendRaw('POST', '/v1/chat/completions', { body })).toMatchObject({
      status: 422,
      body: detailOf('string_unicode', 'body', 'messages', '0', 'content'),
    })
  })

  test.each([
    ['PUT', '/v1/models', 405],
    ['GET', '/v1/chat/completions', 405],
    ['DELETE', '/v1/preview/training-jobs', 405],
    ['GET', '/v1/nothing', 404],
    ['GET', '/', 404],
    ['GET', '/v1/preview/training-jobs/%E0%A4%A', 404],
    ['GET', '/v1/preview/models/%00/checkpoints', 404],
  ])('%s %s is %i', async (method, route, status) => {
    expect(await sendRaw(method, route)).toMatchObject({ status, body: sentence })
  })
})

describe('models', () => {
  const post = (body: unknown, api = rest) => api.send('POST', '/v1/preview/models', body)
  const named = (more: object = {}) => ({
    project: 'tests',
    name: `model-${randomUUID()}`,
    base_model: stack.baseModel,
    ...more,
  })

  test('a model is created with the nulls that clients send, in the default project, with a generated name', async () => {
    const body = { entity: null, project: null, name: null, base_model: stack.baseModel, return_existing: null }
    const made = await rest.call<Record<string, string>>('POST', '/v1/preview/models', body)
    expect(made).toMatchObject({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/) as unknown,
      entity: model.entity,
      project: 'default',
      name: expect.any(String) as unknown,
      base_model: stack.baseModel,
      run_id: made['name'],
    })
    expect(await rest.call('GET', `/v1/preview/models/${made['id']}`)).toEqual(made)
  })

  test('fifty concurrent requests for one name create one model', async () => {
    const body = named({ return_existing: true })
    const made = await Promise.all(
      Array.from({ length: 50 }, () => rest.call<{ id: string }>('POST', '/v1/preview/models', body)),
    )
    expect(new Set(made.map(({ id }) => id)).size).toBe(1)
  })

  test('of fifty concurrent requests for one new name, one succeeds and the others get 409', async () => {
    const body = named()
    const answers = await Promise.all(Array.from({ length: 50 }, () => post(body)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(49)
    expect(await answers.find(({ status }) => status === 409)!.json()).toEqual(sentence)
  })

  test.each<[string, object, string, string[]]>([
    ['no base model', { base_model: undefined }, 'missing', ['base_model']],
    ['null for the base model', { base_model: null }, 'string_type', ['base_model']],
    ['an unknown base model', { base_model: 'no/such' }, 'value_error', ['base_model']],
    ['a base model with a NUL', { base_model: 'a\0b' }, 'value_error', ['base_model']],
    ['a name with a slash', { name: 'a/b' }, 'string_pattern_mismatch', ['name']],
    ['a name with a NUL', { name: 'a\0' }, 'string_pattern_mismatch', ['name']],
    ['a name that is too long', { name: 'a'.repeat(129) }, 'string_too_long', ['name']],
    ['a name that is a number', { name: 1 }, 'string_type', ['name']],
    ['a reserved project', { project: 'settings' }, 'value_error', ['project']],
    ['a flag that is a text', { return_existing: 'yes' }, 'bool_type', ['return_existing']],
  ])('%s is 422', async (_, change, type, loc) => {
    const answer = await post(named(change))
    expect(answer.status).toBe(422)
    expect(await answer.json()).toEqual(detailOf(type, 'body', ...loc))
  })

  test('the longest names reach the resource unchanged', async () => {
    const name = `${randomUUID()}-${'N.'.repeat(45)}x`
    const made = await rest.call<{ id: string }>('POST', '/v1/preview/models', named({ name }))
    const listed = await stack.kubectl(
      'get',
      'models.trainyard.dev',
      '-A',
      '-l',
      `trainyard.dev/id=${made.id}`,
      '-o',
      'json',
    )
    const { items } = JSON.parse(listed) as { items: { spec: { name: string } }[] }
    expect(items.map(({ spec }) => spec.name)).toEqual([name])
  })

  test("another entity's name is 403", async () => {
    expect((await post(named({ entity: `${model.entity}-x` }))).status).toBe(403)
  })

  test('the same name in another entity is another model', async () => {
    const body = { project: 'tests', name: model.name, base_model: stack.baseModel, return_existing: true }
    const other = await foreign.call<{ id: string; entity: string }>('POST', '/v1/preview/models', body)
    expect(other.id).not.toBe(model.id)
    expect(other.entity).not.toBe(model.entity)
  })
})

describe('training jobs', () => {
  const post = (body: unknown, api = rest) => api.send('POST', '/v1/preview/training-jobs', body)
  const group = { trajectories: [{ messages_and_choices: [{ role: 'user', content: 'x' }], reward: 1 }] }

  test.each<[string, object, string, string[]]>([
    ['no model', { model_id: undefined }, 'missing', ['model_id']],
    ['a model id that is neither an id nor a name', { model_id: 'a b' }, 'string_pattern_mismatch', ['model_id']],
    ['no groups', { trajectory_groups: undefined }, 'missing', ['trajectory_groups']],
    ['groups that are an object', { trajectory_groups: {} }, 'list_type', ['trajectory_groups']],
    ['a group that is a text', { trajectory_groups: ['x'] }, 'dict_type', ['trajectory_groups', '0']],
    [
      'a trajectory with a text as its reward',
      { trajectory_groups: [{ trajectories: [{ messages_and_choices: [], reward: 'x' }] }] },
      'float_type',
      ['trajectory_groups', '0', 'trajectories', '0', 'reward'],
    ],
    [
      'a misspelt setting',
      { experimental_config: { learning_rat: 1 } },
      'value_error',
      ['experimental_config', 'learning_rat'],
    ],
    [
      'an unknown value of a setting',
      { experimental_config: { importance_sampling_level: 'word' } },
      'literal_error',
      ['experimental_config', 'importance_sampling_level'],
    ],
    ['settings that are a list', { experimental_config: [] }, 'dict_type', ['experimental_config']],
  ])('%s is 422', async (_, change, type, loc) => {
    const answer = await post({ model_id: model.id, trajectory_groups: [group], ...change })
    expect(answer.status).toBe(422)
    expect(await answer.json()).toEqual(detailOf(type, 'body', ...loc))
  })

  test('all issues are reported at once', async () => {
    const answer = await post({ trajectory_groups: [1, { metadata: 1 }], experimental_config: { ppo: 1 } })
    expect(((await answer.json()) as { detail: unknown[] }).detail).toHaveLength(4)
  })

  test('a reward that is too large is 422', async () => {
    const body = JSON.stringify({ model_id: model.id, trajectory_groups: [group] }).replace(
      '"reward":1',
      '"reward":1e999',
    )
    expect(await sendRaw('POST', '/v1/preview/training-jobs', { body })).toMatchObject({
      status: 422,
      body: detailOf('finite_number', 'body', 'trajectory_groups', '0', 'trajectories', '0', 'reward'),
    })
  })

  test("a model that does not exist and another entity's model get the same 404", async () => {
    const body = (model_id: string) => ({ model_id, trajectory_groups: [group] })
    const ids = [randomUUID(), model.id] as const
    const answers = await Promise.all([post(body(ids[0])), post(body(ids[1]), foreign)])
    expect(answers.map(({ status }) => status)).toEqual([404, 404])
    const detail = (id: string) => ({ detail: `Model ${id} not found` })
    expect(await Promise.all(answers.map((answer) => answer.json()))).toEqual(ids.map(detail))
  })

  test('the payload is stored unchanged, and the settings are in the row and the resource', async () => {
    const metadata = '{"seed":12345678901234567890,"odd": "\\u0000\\u00e9"}'
    const groups = `[{"trajectories":[],"metadata":${metadata}}]`
    const config = '{"learning_rate":1e-05,"epsilon":null,"modelfamily_k2_tau":0.5,"later":null}'
    const body = `{"model_id":"${model.id}","trajectory_groups":${groups},"experimental_config":${config},"more":1}`
    const { status, body: answer } = await sendRaw('POST', '/v1/preview/training-jobs', { body })
    expect(status).toBe(200)
    const { id } = answer as { id: string }
    const stored = await pool.query<{ input_uri: string; input_digest: string }>(
      'SELECT input_uri, input_digest FROM training.jobs WHERE id = $1',
      [id],
    )
    const { input_uri, input_digest } = stored.rows[0]!
    const payload = await readFile(path.join(stack.artifacts, input_uri.replace('artifact:///', '')))
    expect(payload.toString()).toBe(body)
    expect(createHash('sha256').update(payload).digest('hex')).toBe(input_digest)
    expect(await rest.call('GET', `/v1/preview/training-jobs/${id}`)).toMatchObject({
      id,
      model_id: model.id,
      experimental_config: { learning_rate: 1e-5, kimi_k2_tau: 0.5 },
    })
    const listed = await stack.kubectl('get', 'trainingjobs', '-A', '-l', `trainyard.dev/id=${id}`, '-o', 'json')
    const { items } = JSON.parse(listed) as { items: { spec: { config: unknown; inputRef: unknown } }[] }
    expect(items.map(({ spec }) => [spec.config, spec.inputRef])).toEqual([
      [
        { learningRate: 1e-5, kimiK2Tau: 0.5 },
        { uri: input_uri, digest: input_digest },
      ],
    ])
  })
})

describe('lists', () => {
  let jobId: string
  let modelId: string

  beforeAll(async () => {
    modelId = (await rest.createModel()).id
    const jobs = await pool.query<{ id: string }>(
      `INSERT INTO training.jobs (model_id, method, input_uri, input_digest, config, state, spec_digest, namespace,
         cr_name, resource_created_at, finished_at)
       SELECT $1, 'RL', 'artifact:///payloads/x/0.json', '0', '{}', 'Succeeded', '0', 'none', gen_random_uuid()::text,
         now(), now() FROM generate_series(1, 25) RETURNING id`,
      [modelId],
    )
    jobId = jobs.rows[0]!.id
    await pool.query(
      `INSERT INTO training.events (job_id, seq, type, data)
       SELECT $1, seq, 'gradient_step', jsonb_build_object('loss', seq) FROM generate_series(0, 46) seq ORDER BY random()`,
      [jobId],
    )
    await pool.query(
      `INSERT INTO training.checkpoints (id, model_id, job_id, step, uri, digest, metrics)
       SELECT gen_random_uuid(), $1, id, row_number() OVER (), 'artifact:///checkpoints/0', '0', '{"reward": 0.5}'
       FROM training.jobs WHERE model_id = $1`,
      [modelId],
    )
  })

  interface Page {
    object: string
    data: { id: string; step: number; data: { loss: number } }[]
    has_more: boolean
    first_id: string
    last_id: string
  }

  /** Reads all pages of a list as the openai clients do. Returns the number of pages. */
  async function walk(route: string, query = '') {
    const items: Page['data'] = []
    for (let pages = 1, after = ''; ; pages++, after = `&after=${items.at(-1)!.id}`) {
      const page = await rest.call<Page>('GET', `${route}?${query}${after}`)
      expect(page).toMatchObject({
        object: 'list',
        first_id: page.data[0]?.id ?? '',
        last_id: page.data.at(-1)?.id ?? '',
      })
      items.push(...page.data)
      if (!page.has_more) return { items, pages }
    }
  }

  test('events come in order, twenty a page', async () => {
    const { items, pages } = await walk(`/v1/preview/training-jobs/${jobId}/events`)
    expect(pages).toBe(3)
    expect(items.map(({ data }) => data.loss)).toEqual(Array.from({ length: 47 }, (_, seq) => seq))
  })

  test.each([
    ['', 2, 1],
    ['order=desc', 2, -1],
    ['order=asc&limit=25', 1, 1],
    ['limit=7&order=desc', 4, -1],
    ['limit=100', 1, 1],
  ])('checkpoints by %j', async (query, pages, direction) => {
    const walked = await walk(`/v1/preview/models/${modelId}/checkpoints`, query)
    const steps = Array.from({ length: 25 }, (_, index) => index + 1)
    expect(walked.items.map(({ step }) => step)).toEqual(direction > 0 ? steps : steps.toReversed())
    expect(walked.pages).toBe(pages)
  })

  test('the newest checkpoint is the first by limit=1&order=desc', async () => {
    const route = `/v1/preview/models/${modelId}/checkpoints?limit=1&order=desc`
    const { data } = await rest.call<Page>('GET', route)
    expect(data).toMatchObject([{ step: 25, metrics: { reward: 0.5 } }])
  })

  test('an empty list', async () => {
    const untrained = await rest.createModel()
    expect(await rest.call('GET', `/v1/preview/models/${untrained.id}/checkpoints`)).toEqual({
      object: 'list',
      data: [],
      has_more: false,
      first_id: '',
      last_id: '',
    })
  })

  test.each([
    ['limit=0', 'greater_than_equal', 'limit'],
    ['limit=101', 'less_than_equal', 'limit'],
    ['limit=x', 'int_parsing', 'limit'],
    ['limit=', 'int_parsing', 'limit'],
    ['limit=99999999999999999999', 'less_than_equal', 'limit'],
    ['after=x', 'value_error', 'after'],
    ['after=', 'value_error', 'after'],
    ['after=%00', 'value_error', 'after'],
    [`after=${randomUUID()}`, 'value_error', 'after'],
  ])('%s is 422', async (query, type, name) => {
    for (const route of [`training-jobs/${jobId}/events`, `models/${modelId}/checkpoints`]) {
      const answer = await sendRaw('GET', `/v1/preview/${route}?${query}`)
      expect(answer).toMatchObject({ status: 422, body: detailOf(type, 'query', name) })
    }
  })

  test("a cursor of another job's events is 422", async () => {
    const events = await rest.call<Page>('GET', `/v1/preview/training-jobs/${jobId}/events`)
    const { rows } = await pool.query<{ id: string }>(
      'SELECT id FROM training.jobs WHERE model_id = $1 AND id <> $2 LIMIT 1',
      [modelId, jobId],
    )
    const answer = await sendRaw('GET', `/v1/preview/training-jobs/${rows[0]!.id}/events?after=${events.last_id}`)
    expect(answer).toMatchObject({ status: 422, body: detailOf('value_error', 'query', 'after') })
  })

  test.each([
    ['a job', () => `training-jobs/${jobId}`, () => `training-jobs/${randomUUID()}`],
    ['its events', () => `training-jobs/${jobId}/events`, () => `training-jobs/no-uuid/events`],
    ['a model', () => `models/${modelId}`, () => `models/${randomUUID()}`],
    ['its checkpoints', () => `models/${modelId}/checkpoints`, () => `models/no-uuid/checkpoints`],
  ])('for a key of another entity, %s does not exist', async (_, existing, absent) => {
    const answers = await Promise.all([
      foreign.send('GET', `/v1/preview/${existing()}`),
      rest.send('GET', `/v1/preview/${absent()}`),
    ])
    expect(answers.map(({ status }) => status)).toEqual([404, 404])
    // The sentence contains the id of the request.
    const sentences = await Promise.all(
      answers.map(async (answer) => (await answer.text()).replace(/ \S+ not/, ' ID not')),
    )
    expect(sentences[0]).toBe(sentences[1])
  })
})

test('only the user who runs the service can read its stored files', async () => {
  expect((await stat(stack.artifacts)).mode & 0o777).toBe(0o700)
})
