import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createPool, type Pool } from '../../db/pool.ts'
import { insertApiKey } from '../../db/accounts/api-keys.ts'
import { createLogger } from '../../lib/log.ts'
import { createRest } from '../support/rest.ts'
import { useOwnStack } from '../support/api-server.ts'

const stack = await useOwnStack()
const rest = createRest(stack)
const foreignKey = randomBytes(32).toString('hex')
const jobsPath = '/v1/preview/training-jobs'
const limitBytes = 256 * 1024 * 1024

let pool: Pool
let modelId: string

beforeAll(async () => {
  pool = createPool(stack.databaseUrl, createLogger('test', 'silent'), 2)
  const digest = createHash('sha256').update(foreignKey).digest()
  await insertApiKey(pool, { id: randomUUID(), entity: 'other-team', digest, prefix: 'other-', role: 'admin' })
  modelId = (await rest.createModel()).id
})
afterAll(() => pool.end())

const headers = { authorization: `Bearer ${stack.apiKey}`, 'content-type': 'application/json' }

/** Sends a body unchanged. Returns status and text. */
async function sendRaw(route: string, body: string | Uint8Array<ArrayBuffer>) {
  const named = typeof body === 'string' ? body.replace('MODEL', modelId) : body
  const response = await fetch(stack.url + route, { method: 'POST', headers, body: named })
  return { status: response.status, text: await response.text() }
}

// The table is built before the model exists.
const jobBody = (groups: string, more = '') => `{"model_id":"MODEL","trajectory_groups":${groups}${more}}`
const trajectory = (reward: number, more: object = {}) => ({ messages_and_choices: [], reward, ...more })
const detail = (loc: string, type: string, msg: string) => ({
  loc: ['body', ...loc.split('.').filter(Boolean)],
  msg,
  type,
})

describe('an invalid body', () => {
  const notJson = (reason: string) =>
    expect.stringMatching(new RegExp(String.raw`^JSON decode error: not valid JSON at byte \d+.*: ${reason}`)) as string
  const inTrajectory = 'trajectory_groups.0.trajectories.0'

  // The text is sent as it is, and together with much text that is ignored. The answers must be equal.
  test.each<[string, string, object[]]>([
    ['cut off', jobBody('[').slice(0, -1), [detail('', 'json_invalid', notJson(''))]],
    [
      'with many issues',
      jobBody(
        '[{"trajectories":[{"reward":"1"},7]},{"metadata":[]},null]',
        ',"experimental_config":{"epsilon":-1,"lr":1,"later":null}',
      ),
      [
        detail('experimental_config.epsilon', 'greater_than_equal', 'Input should be greater than or equal to 0'),
        detail(`${inTrajectory}.reward`, 'float_type', 'Input should be a valid number'),
        detail('trajectory_groups.0.trajectories.1', 'dict_type', 'Input should be a valid dictionary'),
        detail('trajectory_groups.1.metadata', 'dict_type', 'Input should be a valid dictionary'),
        detail('trajectory_groups.2', 'dict_type', 'Input should be a valid dictionary'),
      ],
    ],
    [
      'with two values of one setting',
      jobBody('[]', ',"experimental_config":{"kimi_k2_tau":0.1,"modelfamily_k2_tau":0.2}'),
      [
        detail(
          'experimental_config.modelfamily_k2_tau',
          'value_error',
          'Value error, this is another name of kimi_k2_tau, and the two values differ',
        ),
      ],
    ],
  ])('%s is reported', async (_, text, expected) => {
    for (const body of [text, text.replace('{', `{"more":"${'x'.repeat(1_000_000)}",`)]) {
      const answer = await sendRaw(jobsPath, body)
      expect({ ...answer, text: JSON.parse(answer.text) as unknown }).toEqual({
        status: 422,
        text: { detail: expected },
      })
    }
  })
})

describe('a body that is too large', () => {
  test('is rejected by its announced length, before it is read', async () => {
    const status = await new Promise((resolve, reject) => {
      const announced = { ...headers, 'content-length': String(limitBytes + 1) }
      const sent = httpRequest(stack.url + jobsPath, { method: 'POST', headers: announced }, (response) => {
        resolve(response.statusCode)
        sent.destroy()
      })
      sent.once('error', reject)
      sent.flushHeaders()
    })
    expect(status).toBe(413)
  })
})

interface Row {
  id: string
  [field: string]: unknown
}

const readList = (id: string, query = '', kind = 'trajectories') =>
  rest.call<{ data: Row[]; has_more: boolean; last_id: string }>(
    'GET',
    `/v1/preview/models/${id}/${kind}?limit=100&${query}`,
  )

describe('a body of 60 MB', () => {
  const token = (index: number) => ({
    token: `token_id:${1000 + index}`,
    bytes: [104, 105],
    logprob: -0.5 - index / 1e6,
  })
  const choice = {
    finish_reason: 'stop',
    index: 0,
    message: { role: 'assistant', content: 'x'.repeat(8_000) },
    logprobs: { content: Array.from({ length: 2_000 }, (_, index) => token(index)), refusal: null },
  }
  const sample = JSON.stringify(choice)
  const makeTrajectory = (group: number, index: number) =>
    `{ "messages_and_choices":[{"role":"user","content":"task ${group}"},${sample}],"reward":${index}.50,` +
    `"metadata":{"scenario_id":"s${group}"},"odd": 12345678901234567890.10, "\\u0065":"\\u00e9" }`
  let jobId: string
  let large: { id: string }

  beforeAll(async () => {
    large = await rest.createModel()
    const groups = Array.from({ length: 37 }, (_, group) => {
      const trajectories = Array.from({ length: 12 }, (_each, index) => makeTrajectory(group, index))
      return `{"trajectories":[${trajectories.join(' ,\n')}],"exceptions":[{"type":"x"}]}`
    })
    const body = `{"trajectory_groups":[${groups.join()}],"model_id":"${large.id}"}`
    expect(body.length).toBeGreaterThan(60_000_000)
    const { status, text } = await sendRaw(jobsPath, body)
    expect({ status, text }).toMatchObject({ status: 200 })
    jobId = (JSON.parse(text) as { id: string }).id
  })

  test('is stored unchanged, and each trajectory can be read from it', async () => {
    const first = await readList(large.id, `job_id=${jobId}`)
    expect(first.has_more).toBe(true)
    expect(first.data[13]).toEqual({
      id: expect.any(String) as string,
      model_id: large.id,
      job_id: jobId,
      log_id: null,
      split: 'train',
      step: null,
      group_index: 1,
      trajectory_index: 1,
      group_exceptions: 1,
      scenario_id: 's1',
      prompt_hash: createHash('sha256').update('[{"role":"user","content":"task 1"}]').digest('hex'),
      reward: 1.5,
      advantage: expect.closeTo(-4.5 / Math.sqrt(143 / 12), 5) as number,
      metrics: {},
      tokens: 2000,
      flags: [],
      push: null,
      created_at: expect.any(String) as string,
    })
    for (const [group, index] of [
      [0, 0],
      [17, 3],
      [36, 11],
    ] as const) {
      const { data } = await readList(large.id, `scenario_id=s${group}&min_reward=${index}.5&max_reward=${index}.5`)
      expect(data).toHaveLength(1)
      const response = await rest.send('GET', `/v1/preview/models/${large.id}/trajectories/${data[0]!.id}`)
      const text = await response.text()
      const expected = makeTrajectory(group, index)
      expect(text).toBe(`${JSON.stringify(data[0]).slice(0, -1)},"trajectory":${expected}}`)
      expect(JSON.parse(text)).toMatchObject({ trajectory: { reward: index + 0.5 } })
    }
  })

  test("gets the step of its job's checkpoint", async () => {
    await pool.query(
      `INSERT INTO training.checkpoints (id, model_id, job_id, step, uri, digest, metrics)
       VALUES ($1, $2, $3, 4, 'artifact:///checkpoints/x', 'ab', '{}')`,
      [randomUUID(), large.id, jobId],
    )
    const { data } = await readList(large.id, 'step=4&order=desc')
    expect(data).toHaveLength(100)
    expect(data[0]).toMatchObject({ step: 4, group_index: 36, trajectory_index: 11 })
    expect((await readList(large.id, 'step=3')).data).toEqual([])
  })

  test('is a 404 once its payload was removed', async () => {
    const { data } = await readList(large.id, 'scenario_id=s2')
    const { rows } = await pool.query<{ uri: string }>('SELECT input_uri AS uri FROM training.jobs WHERE id = $1', [
      jobId,
    ])
    await rm(path.join(stack.artifacts, rows[0]!.uri.replace('artifact:///', '')))
    const response = await rest.send('GET', `/v1/preview/models/${large.id}/trajectories/${data[0]!.id}`)
    expect([response.status, await response.json()]).toEqual([
      404,
      { detail: 'The payload of this trajectory is no longer stored.' },
    ])
  })
})

describe('logs', () => {
  let logged: { id: string }
  const made: Row[] = []
  const log = (split: string, groups: object[], more: object = {}) =>
    rest.call<Row>('POST', `/v1/preview/models/${logged.id}/log`, { split, trajectory_groups: groups, ...more })
  const group = (...rewards: number[]) => ({ trajectories: rewards.map((reward) => trajectory(reward)) })

  beforeAll(async () => {
    logged = await rest.createModel()
    made.push(await log('val', [group(0, 1), group(3)], { model_id: logged.id.toUpperCase(), later: 1 }))
    made.push(await log('val', [{ trajectories: [], exceptions: [{}, {}] }]))
    await pool.query(
      `INSERT INTO training.checkpoints (id, model_id, step, uri, digest, metrics)
       VALUES ($1, $2, 1, 'artifact:///checkpoints/y', 'ab', '{}')`,
      [randomUUID(), logged.id],
    )
    made.push(await log('val', [group(2, 2)]))
    made.push(await log('val', [group(5)]))
    made.push(await log('test/hard', [group(1e200, -1e200)]))
    await pool.query('UPDATE training.checkpoints SET deleted_at = now() WHERE model_id = $1', [logged.id])
    made.push(await log('empty', []))
  })

  test('return what was stored, at the newest existing step', () => {
    const id = expect.any(String) as string
    expect(made).toEqual([
      { id, split: 'val', step: 0, num_groups: 2, num_trajectories: 3 },
      { id, split: 'val', step: 0, num_groups: 1, num_trajectories: 0 },
      { id, split: 'val', step: 1, num_groups: 1, num_trajectories: 2 },
      { id, split: 'val', step: 1, num_groups: 1, num_trajectories: 1 },
      { id, split: 'test/hard', step: 1, num_groups: 1, num_trajectories: 2 },
      { id, split: 'empty', step: 0, num_groups: 0, num_trajectories: 0 },
    ])
  })

  test('are listed by split and cursor', async () => {
    const ids = async (query: string) => (await readList(logged.id, query, 'log')).data.map(({ id }) => id)
    const [first, second, third, fourth, fifth, sixth] = made.map(({ id }) => id)
    expect(await ids('')).toEqual([first, second, third, fourth, fifth, sixth])
    expect(await ids(`split=val&after=${first}&limit=2`)).toEqual([second, third])
    expect(await ids(`split=val&order=desc&after=${third}`)).toEqual([second, first])
    expect(await ids('split=none')).toEqual([])
    expect((await readList(logged.id, 'limit=1', 'log')).data[0]).toEqual({
      ...made[0],
      num_exceptions: 0,
      mean_reward: expect.closeTo(4 / 3, 12) as number,
      min_reward: 0,
      max_reward: 3,
      std_reward: expect.closeTo(Math.sqrt(14 / 9), 12) as number,
      created_at: expect.any(String) as string,
    })
  })

  test('have statistics per split and step', async () => {
    const { data } = await readList(logged.id, '', 'log/statistics')
    const none = { mean_reward: null, min_reward: null, max_reward: null, std_reward: null }
    const counts = (num_logs: number, num_groups: number, num_trajectories: number, num_exceptions = 0) => ({
      num_logs,
      num_groups,
      num_trajectories,
      num_exceptions,
    })
    expect(data).toEqual([
      { id: 'empty:0', split: 'empty', step: 0, ...counts(1, 0, 0), ...none },
      {
        id: 'test/hard:1',
        split: 'test/hard',
        step: 1,
        ...counts(1, 1, 2),
        ...none,
        min_reward: -1e200,
        max_reward: 1e200,
      },
      {
        id: 'val:0',
        split: 'val',
        step: 0,
        ...counts(2, 3, 3, 2),
        mean_reward: expect.closeTo(4 / 3, 12) as number,
        min_reward: 0,
        max_reward: 3,
        std_reward: expect.closeTo(Math.sqrt(14 / 9), 12) as number,
      },
      {
        id: 'val:1',
        split: 'val',
        step: 1,
        ...counts(2, 2, 3),
        mean_reward: 3,
        min_reward: 2,
        max_reward: 5,
        std_reward: expect.closeTo(Math.SQRT2, 12) as number,
      },
    ])
    const ids = async (query: string) => (await readList(logged.id, query, 'log/statistics')).data.map(({ id }) => id)
    expect(await ids('after=empty:0&limit=2')).toEqual(['test/hard:1', 'val:0'])
    expect(await ids('after=val:0&order=desc&split=val')).toEqual([])
    expect(await ids('order=desc&limit=1')).toEqual(['val:1'])
  })

  test('and their trajectories are found by filters', async () => {
    const rewards = async (query: string) => (await readList(logged.id, query)).data.map(({ reward }) => reward)
    expect(await rewards('')).toEqual([0, 1, 3, 2, 2, 5, 1e200, -1e200])
    expect(await rewards('split=val&step=1')).toEqual([2, 2, 5])
    expect(await rewards('min_reward=1&max_reward=3')).toEqual([1, 3, 2, 2])
    expect(await rewards('flag=zero_advantage')).toEqual([3, 2, 2, 5])
    expect(await rewards('flag=truncated')).toEqual([])
    expect(await rewards(`prompt_hash=${createHash('sha256').update('[]').digest('hex')}&step=0`)).toEqual([0, 1, 3])
    const { data } = await readList(logged.id)
    expect(await rewards(`after=${data[1]!.id}&limit=2`)).toEqual([3, 2])
    expect(await rewards(`after=${data[1]!.id}&order=desc`)).toEqual([0])
    expect(data[0]).toMatchObject({ log_id: made[0]!.id, job_id: null, step: 0, split: 'val' })
  })

  test('and their trajectories are ranked by a number, in pages', async () => {
    const ranked = async (query: string) => {
      const found: (number | null)[] = []
      for (let after = ''; ;) {
        const page = await readList(logged.id, `step=1&limit=2&${query}${after}`)
        const name = query.includes('advantage') ? 'advantage' : 'reward'
        found.push(...page.data.map((row) => row[name] as number | null))
        if (!page.has_more) return found
        after = `&after=${page.data.at(-1)!.id}`
      }
    }
    const rewards = (await readList(logged.id, 'step=1')).data.map(({ reward }) => reward as number)
    expect(await ranked('sort=reward')).toEqual(rewards.toSorted((a, b) => a - b))
    expect(await ranked('sort=reward&order=desc')).toEqual(rewards.toSorted((a, b) => b - a))
    const sizes = (await ranked('sort=advantage&order=desc')).map((advantage) => Math.abs(advantage ?? -1))
    expect(sizes).toEqual(sizes.toSorted((a, b) => b - a))
    expect(await ranked('sort=push&order=desc')).toHaveLength(rewards.length)
  })

  test('are searched for a text, in pages', async () => {
    const spoken = await rest.createModel()
    const says = (content: string) => trajectory(0, { messages_and_choices: [{ role: 'user', content }] })
    const groups = [{ trajectories: [says('Über Oslo'), says('nothing'), says('oslo, oslo')] }]
    const body = { split: 'val', trajectory_groups: groups }
    await rest.call('POST', `/v1/preview/models/${spoken.id}/log`, body)
    interface Matches {
      data: { id: string; matches: { before: string; text: string; after: string }[] }[]
      searched: number
      skipped: number
      has_more: boolean
      last_id: string
    }
    const search = (query: string) =>
      rest.call<Matches>('GET', `/v1/preview/models/${spoken.id}/trajectory-matches?${query}`)
    const { data, ...about } = await search('text=OSLO')
    expect(about).toMatchObject({ searched: 3, skipped: 0, has_more: false })
    expect(data.map(({ matches }) => matches.length)).toEqual([1, 2])
    expect(data[0]!.matches[0]).toEqual({ turn: 0, role: 'user', before: 'Über ', text: 'Oslo', after: '' })
    const first = await search('text=oslo,&limit=2')
    expect(first).toMatchObject({ data: [], searched: 2, has_more: true })
    expect((await search(`text=oslo,&limit=2&after=${first.last_id}`)).data).toHaveLength(1)
    expect((await search('text=oslo&split=train')).searched).toBe(0)
    await pool.query(`UPDATE training.trajectories SET payload_uri = $2 WHERE model_id = $1`, [
      spoken.id,
      'artifact:///payloads/none/0.json',
    ])
    expect(await search('text=oslo')).toMatchObject({ data: [], searched: 3, skipped: 3 })
  })

  test.each<[string, object, string, string]>([
    ['an empty split', { split: '' }, 'split', 'string_too_short'],
    ['another model', { model_id: randomUUID() }, 'model_id', 'value_error'],
  ])('with %s are rejected', async (_, change, field, type) => {
    const body = { split: 'val', trajectory_groups: [], ...change }
    const response = await rest.send('POST', `/v1/preview/models/${logged.id}/log`, body)
    expect(response.status).toBe(422)
    const { detail: faults } = (await response.json()) as { detail: { loc: string[]; type: string }[] }
    expect(faults.map(({ loc, type: found }) => [loc, found])).toContainEqual([['body', field], type])
  })

  test.each([
    ['log', 'after', 'x'],
    ['log', 'after', randomUUID()],
    ['log', 'split', 'a%00b'],
    ['log/statistics', 'after', 'val:7'],
    ['log/statistics', 'after', 'val'],
    ['log/statistics', 'after', 'val:99999999999'],
    ['trajectories', 'after', 'x'],
    ['trajectories', 'step', '2147483648'],
    ['trajectories', 'job_id', 'x'],
    ['trajectories', 'prompt_hash', 'ab'],
    ['trajectories', 'min_reward', '1e999'],
    ['trajectories', 'flag', 'nice'],
    ['trajectories', 'sort', 'push'],
    ['trajectory-matches', 'text', 'a'],
    ['trajectory-matches?text=ab&', 'after', randomUUID()],
  ])('GET %s with %s=%s is 422', async (kind, name, value) => {
    const response = await rest.send(
      'GET',
      `/v1/preview/models/${logged.id}/${kind}${kind.includes('?') ? '' : '?'}${name}=${value}`,
    )
    expect(response.status).toBe(422)
    expect(await response.json()).toMatchObject({ detail: [{ loc: ['query', name] }] })
  })

  test('a scenario may be any text', async () => {
    const long = 'é'.repeat(300)
    await log('odd', [{ trajectories: [trajectory(1)], metadata: { scenario_id: `${long}\0` } }])
    const found = async (id: string) => (await readList(logged.id, `scenario_id=${encodeURIComponent(id)}`)).data.length
    expect(await found(long)).toBe(1)
    expect(await found('\0')).toBe(0)
  })

  test('missing data and data of others get the same 404', async () => {
    const foreign = createRest(stack, foreignKey)
    const { data } = await readList(logged.id)
    const one = `trajectories/${data[0]!.id}`
    const routes = ['log', 'log/statistics', 'trajectories', one, `${one}/tokens`, 'trajectory-matches?text=ab']
    for (const route of routes) {
      const ids = [logged.id, randomUUID(), 'x']
      const answers = await Promise.all(ids.map((id) => foreign.send('GET', `/v1/preview/models/${id}/${route}`)))
      expect(answers.map(({ status }) => status)).toEqual([404, 404, 404])
      expect(await Promise.all(answers.map((answer) => answer.json()))).toEqual(
        ids.map((id) => ({ detail: `Model ${id} not found` })),
      )
    }
    const body = { split: 'val', trajectory_groups: [] }
    expect((await foreign.send('POST', `/v1/preview/models/${logged.id}/log`, body)).status).toBe(404)
    const other = await rest.createModel()
    for (const id of [data[0]!.id, randomUUID(), 'x', '%00']) {
      const response = await rest.send('GET', `/v1/preview/models/${other.id}/trajectories/${id}`)
      expect([response.status, await response.json()]).toEqual([
        404,
        { detail: expect.stringMatching(/^Trajectory .+ not found$/s) as string },
      ])
    }
  })

  test('the same key logs once', async () => {
    const other = await rest.createModel()
    const key = { ...headers, 'idempotency-key': randomUUID() }
    const send = (body: string) =>
      fetch(`${stack.url}/v1/preview/models/${other.id}/log`, { method: 'POST', headers: key, body })
    const body = '{"split":"val","trajectory_groups":[]}'
    const answers = await Promise.all([send(body), send(body), delay(5).then(() => send(body))])
    expect(new Set(await Promise.all(answers.map((answer) => answer.text()))).size).toBe(1)
    expect((await send(`${body} `)).status).toBe(409)
    expect((await readList(other.id, '', 'log')).data).toHaveLength(1)
  })
})
