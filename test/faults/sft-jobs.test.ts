import { createHash, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createPool, type Pool } from '../../db/pool.ts'
import { claimJob, type Claim } from '../../db/jobs/claims.ts'
import { FolderStore } from '../../artifacts/store/folder-store.ts'
import { createLogger } from '../../lib/log.ts'
import { presentClaim } from '../../operator/status-server/present.ts'
import { setLimits } from '../support/entity-limits.ts'
import { eventually } from '../support/eventually.ts'
import { killPart } from '../support/kill.ts'
import { rejectedUrls } from '../support/rejected-urls.ts'
import { createRest, type Rest } from '../support/rest.ts'
import { useStack } from '../support/stack.ts'

interface Job {
  method: string
  state: string
  training_data_url: string | null
  config: Record<string, unknown> | null
  experimental_config: Record<string, unknown> | null
  failure: { category: string; code: string; message: string; retryable: boolean } | null
}

interface Resource {
  metadata: { name: string }
  spec: { inputRef: { uri: string; digest?: string }; config?: object }
  status?: { id?: string; phase: string; reason: string; message: string; failure?: { message: string } }
}

const stack = useStack()
const namespace = ['-n', 'trainyard']
const line = `${JSON.stringify({
  messages: [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: 'b' },
  ],
})}\n`
const sha256 = (bytes: string) => createHash('sha256').update(bytes).digest('hex')

const foreign = {
  address: 'wandb-artifact:///another/tests/data:v0',
  stored: `artifact:///artifacts/another/${sha256('foreign')}`,
  digest: sha256('foreign'),
}

let rest: Rest
let pool: Pool
let entity: string
let modelId: string
let server: Server
let origin: string
let asked: string[]
let answer: (request: IncomingMessage, response: ServerResponse) => void

beforeAll(async () => {
  rest = createRest(stack)
  pool = createPool(stack.databaseUrl, createLogger('test', 'silent'), 2)
  await addForeignUpload()
  server = createServer((request, response) => {
    asked.push(request.url ?? '')
    answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

// Each test has its own model, because jobs of one model wait for each other.
beforeEach(async () => {
  const model = await rest.createModel()
  ;[entity, modelId] = [model.entity, model.id]
  asked = []
  answer = (_, response) => response.end(line)
})

afterAll(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  await pool.end()
})

const create = (body: object) => rest.send('POST', '/v1/preview/sft-training-jobs', { model_id: modelId, ...body })

async function createJob(address: string, more: object = {}): Promise<string> {
  const response = await create({ training_data_url: address, ...more })
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
  return ((await response.json()) as { id: string }).id
}

const readJob = (id: string) => rest.call<Job>('GET', `/v1/preview/training-jobs/${id}`)

const waitForState = (id: string, state: string) =>
  eventually(async () => {
    const job = await readJob(id)
    expect(job.state).toBe(state)
    return job
  })

async function upload(files: Record<string, string>, name = `data-${randomUUID()}`) {
  const form = new FormData()
  for (const [path, text] of Object.entries(files)) form.append('file', new Blob([text]), path)
  const url = `${stack.url}/v1/preview/artifacts/${entity}/tests/${name}?check=none`
  const response = await fetch(url, { method: 'PUT', body: form, headers: { authorization: `Bearer ${stack.apiKey}` } })
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
  return (await response.json()) as { name: string; address: string }
}

const readInput = async (id: string) => {
  const { rows } = await pool.query<{ uri: string; digest: string | null }>(
    'SELECT input_uri AS uri, input_digest AS digest FROM training.jobs WHERE id = $1',
    [id],
  )
  return rows[0]!
}

const storedAs = (text: string) => ({ uri: `artifact:///artifacts/${entity}/${sha256(text)}`, digest: sha256(text) })

/** The job as a trainer's claim gets it. */
async function claim(id: string): Promise<Record<string, unknown>> {
  const held: Claim[] = []
  for (;;) {
    const trainer = { podUid: randomUUID(), processId: randomUUID(), gpus: 0, holding: [] }
    const claimant = { baseModel: stack.baseModel, ...trainer }
    const found = await claimJob(pool, claimant)
    if (!found) throw new Error('nothing to claim')
    held.push(found)
    if (found.id === id) return presentClaim(found)
  }
}

describe('a job by the address of an upload', () => {
  test.each([
    ['train.jsonl before all others', { 'train.jsonl': line, 'trajectories.jsonl': 'x', 'a.jsonl': 'y' }],
    ['trajectories.jsonl before others', { 'trajectories.jsonl': line, 'metadata.json': '{}', 'a.jsonl': 'y' }],
    ['the only one, whatever its name', { 'data/mine.jsonl': line, 'readme.md': 'x' }],
  ])('trains on %s', async (_, files) => {
    const { address } = await upload(files)
    const id = await createJob(address)
    await waitForState(id, 'Queued')
    expect(await readInput(id)).toEqual(storedAs(line))
  })

  test('keeps the version that was the newest at its creation, and is returned completely', async () => {
    const { name, address } = await upload({ 'train.jsonl': line })
    const newest = `wandb-artifact:///${entity}/tests/${name}`
    const experimental = { anything: [1, { 'ü\0': null }], at: 'all' }
    const given = { batch_size: 2.0, learning_rate: [2e-5, 1e-5] }
    const ids = [
      await createJob(address, { config: given, experimental_config: experimental, unknown_key: 1 }),
      await createJob(newest, { config: { batch_size: null, learning_rate: 0.5 } }),
      await createJob(`${newest}:latest`, { config: null, experimental_config: null }),
      await createJob(`${newest}:latest`, { config: {} }),
    ]
    await upload({ 'train.jsonl': 'other' }, name)
    for (const id of ids) expect(await readInput(id)).toEqual(storedAs(line))
    const jobs = await Promise.all(ids.map(readJob))
    expect(
      jobs.map(({ method, config, experimental_config, training_data_url }) => ({
        method,
        config,
        experimental_config,
        training_data_url,
      })),
    ).toEqual([
      { method: 'SFT', config: given, experimental_config: experimental, training_data_url: address },
      { method: 'SFT', config: { learning_rate: 0.5 }, experimental_config: null, training_data_url: newest },
      { method: 'SFT', config: {}, experimental_config: null, training_data_url: `${newest}:latest` },
      { method: 'SFT', config: {}, experimental_config: null, training_data_url: `${newest}:latest` },
    ])
    await waitForState(ids[0]!, 'Queued')
    expect(await claim(ids[0]!)).toMatchObject({
      method: 'SFT',
      input: storedAs(line),
      config: { batch_size: 2, learning_rate: [2e-5, 1e-5] },
    })
  })

  test('has a resource that names the file, and does not train again if that is applied again', async () => {
    const { address } = await upload({ 'train.jsonl': line })
    const id = await createJob(address, { config: { learning_rate: [0.1], batch_size: 3 } })
    await waitForState(id, 'Queued')
    const { items } = JSON.parse(
      await stack.kubectl('get', 'tj', ...namespace, '-l', `trainyard.dev/id=${id}`, '-o', 'json'),
    ) as { items: Resource[] }
    expect(items.map(({ spec }) => spec)).toEqual([
      expect.objectContaining({
        method: 'SFT',
        inputRef: storedAs(line),
        config: { learningRates: [0.1], batchSize: 3 },
      }),
    ])
  })
})

describe('an address is rejected', () => {
  const createRejectedJob = async (address: string) => {
    const response = await create({ training_data_url: address })
    return { status: response.status, body: (await response.json()) as { detail: unknown } }
  }
  const valueError = (msg: RegExp) => ({
    status: 422,
    body: {
      detail: [{ loc: ['body', 'training_data_url'], msg: expect.stringMatching(msg), type: 'value_error' }],
    },
  })

  test('that names no artifact, an unknown version, or a missing file', async () => {
    const { address } = await upload({ 'a.jsonl': 'x', 'b.jsonl': 'y' })
    expect(await createRejectedJob(address)).toEqual(
      valueError(/exactly one \*\.jsonl; it contains a\.jsonl, b\.jsonl$/),
    )
    expect(await createRejectedJob(address.replace(':v0', ':v1'))).toEqual(
      valueError(/there is no artifact local\/tests\/.*; upload it first: PUT/),
    )
    expect(await createRejectedJob(`wandb-artifact:///${entity}/tests/none`)).toEqual(
      valueError(/there is no artifact local\/tests\/.*; upload it first: PUT/),
    )
  })

  test('of another entity in the same way as a missing one', async () => {
    const foreignName = foreign.address.replace('wandb-artifact:///', '').replace(':v0', '')
    expect(await createRejectedJob(foreign.address)).toEqual(
      valueError(new RegExp(`there is no artifact ${foreignName}:v0`)),
    )
    expect(await createRejectedJob(foreign.stored)).toEqual(valueError(/this address contains no data of the entity/))
  })

  test.each([
    ['s3://test-data/a.jsonl', /S3 is not configured here/],
    ['file:///etc/passwd', /give an address such as/],
    ['/etc/passwd', /give an address such as/],
    ['artifact:///payloads/another/a.json', /this address contains no data/],
    ['artifact:///checkpoints/a', /this address contains no data/],
    ['artifact:///payloads/../../etc/passwd', /this address contains no data/],
    ['https://example.com/a', /example\.com is not a host that is allowed here/],
    ['http://127.0.0.2:1/a', /127\.0\.0\.2:1 is not a host/],
    ['https://10.0.0.1/a?token=secret', /private or reserved network/],
    ['https://user:secret@127.0.0.1/a', /user name or password/],
    ['wandb-artifact:///a/b', /an artifact address has the form/],
    ['a\0b', /give an address such as/],
  ])('%j', async (address, msg) => {
    const refused = await createRejectedJob(address)
    expect(refused).toEqual(valueError(msg))
    expect(JSON.stringify(refused)).not.toContain('secret')
  })

  test('for each hostile address of the corpus', async () => {
    const others = rejectedUrls.filter(([address]) => !/^https?:\/\/127\.0\.0\.1[:/]/.test(address))
    for (const [address] of others) {
      const { status } = await createRejectedJob(address)
      expect([address, status]).toEqual([address, 422])
    }
    expect(asked).toEqual([])
  })
})

test.each([
  ['no address', { training_data_url: undefined }, ['body', 'training_data_url']],
  ['an address that is not a text', { training_data_url: 7 }, ['body', 'training_data_url']],
  ['a batch size of 0', { config: { batch_size: 0 } }, ['body', 'config', 'batch_size']],
  ['a fractional batch size', { config: { batch_size: 1.5 } }, ['body', 'config', 'batch_size']],
  ['a batch size that is text', { config: { batch_size: 'auto' } }, ['body', 'config', 'batch_size']],
  ['a negative rate', { config: { learning_rate: -1 } }, ['body', 'config', 'learning_rate']],
  ['a rate above 1', { config: { learning_rate: [0.1, 2] } }, ['body', 'config', 'learning_rate', '1']],
  ['no rates', { config: { learning_rate: [] } }, ['body', 'config', 'learning_rate']],
  ['too many rates', { config: { learning_rate: Array(20_001).fill(0) } }, ['body', 'config', 'learning_rate']],
  ['a rate that is a text', { config: { learning_rate: 'x' } }, ['body', 'config', 'learning_rate']],
  ['an unknown setting', { config: { epochs: 3 } }, ['body', 'config', 'epochs']],
  ['an experimental config that is a list', { experimental_config: [] }, ['body', 'experimental_config']],
])('a job with %s is rejected', async (_, change, loc) => {
  const response = await create({ training_data_url: 'wandb-artifact:///a/b/c:v0', ...change })
  expect({ status: response.status, body: await response.json() }).toEqual({
    status: 422,
    body: { detail: [expect.objectContaining({ loc })] },
  })
})

test('a model of another entity is not found', async () => {
  const { address } = await upload({ 'train.jsonl': line })
  const id = randomUUID()
  const response = await create({ model_id: id, training_data_url: address })
  expect([response.status, await response.json()]).toEqual([404, { detail: `Model ${id} not found` }])
})

describe('data on another server', () => {
  test('are fetched before the job is queued, over redirects too', async () => {
    const { promise: gate, resolve: pass } = Promise.withResolvers<void>()
    answer = ({ url }, response) => {
      if (url?.startsWith('/moved')) response.writeHead(302, { location: '/there?x=1' }).end()
      else void gate.then(() => response.end(line))
    }
    const address = `${origin}/moved?token=a`
    const id = await createJob(address)
    const resource = await eventually(async () => {
      const found = await readResource(id)
      expect(found.status).toMatchObject({ phase: 'Pending', reason: 'FetchingInput' })
      return found
    })
    expect(resource.spec.inputRef).toEqual({ uri: address })
    // Other requests do not wait.
    const other = await rest.createModel()
    const { address: uploaded } = await upload({ 'train.jsonl': line })
    const second = await createJob(uploaded, { model_id: other.id })
    await waitForState(second, 'Queued')
    expect((await readJob(id)).state).toBe('Pending')
    pass()
    await waitForState(id, 'Queued')
    expect(await readInput(id)).toEqual(storedAs(line))
    expect((await readJob(id)).training_data_url).toBe(address)
    expect(asked).toEqual(['/moved?token=a', '/there?x=1'])
  })

  test('are requested again while their server has errors', async () => {
    answer = (_, response) => {
      if (asked.length < 3) response.writeHead(503).end()
      else response.end(line)
    }
    const id = await createJob(`${origin}/busy?token=secret`)
    await eventually(async () => expect((await readResource(id)).status?.message).toMatch(/answered 503/))
    await waitForState(id, 'Queued')
    expect(asked).toHaveLength(3)
  })

  test.each<[string, (response: ServerResponse) => void, string, RegExp]>([
    ['do not exist', (response) => response.writeHead(404).end(), 'InputNotFound', /its server answered 404$/],
    ['may not be read', (response) => response.writeHead(403).end(), 'InputNotAllowed', /its server answered 403$/],
    [
      'are too large',
      (response) => response.writeHead(200, { 'content-length': 6 * 1024 ** 3 }).write('x'),
      'InputTooLarge',
      /larger than 5368709120 bytes$/,
    ],
    [
      'lead to a private network',
      (response) => response.writeHead(302, { location: 'http://10.0.0.1/?token=secret' }).end(),
      'InputNotAllowed',
      /private or reserved network$/,
    ],
    [
      'lead to another machine',
      (response) => response.writeHead(302, { location: 'http://127.0.0.9/' }).end(),
      'InputNotAllowed',
      /127\.0\.0\.9 is not a host that is allowed here/,
    ],
    [
      'redirect in a loop',
      (response) => response.writeHead(302, { location: '/again' }).end(),
      'InputNotFound',
      /redirects more than 5 times$/,
    ],
  ])('that %s fail the job permanently', async (_, respond, code, message) => {
    answer = (__, response) => respond(response)
    const id = await createJob(`${origin}/bad?token=secret`)
    const job = await waitForState(id, 'Failed')
    expect(job.failure).toEqual({ category: 'User', code, message: expect.stringMatching(message), retryable: false })
    expect(JSON.stringify(job.failure)).not.toContain('secret')
    const events = await rest.listEvents(id)
    expect(events.map(({ type, data }) => [type, data])).toEqual([
      ['training_failed', { error_message: job.failure?.message }],
    ])
  })

  describe('data of an entity without free storage', () => {
    const limitTo = (storedBytes: number | null) => setLimits(pool, entity, { storedBytes })
    const readStored = async () =>
      (await rest.call<{ in_use: { stored_bytes: number } }>('GET', '/v1/preview/limits')).in_use.stored_bytes
    const expectRejected = async (id: string) => {
      const { failure } = await waitForState(id, 'Failed')
      const message = expect.stringMatching(/^The training data cannot be used: .* its limit stored_bytes is/)
      expect(failure).toEqual({ category: 'User', code: 'InputExceedsQuota', message, retryable: false })
    }
    afterEach(() => limitTo(null))

    test('are not requested at the limit', async () => {
      await upload({ 'train.jsonl': line })
      await limitTo(1)
      await expectRejected(await createJob(`${origin}/full`))
      expect(asked).toEqual([])
    })

    test('are rejected while they arrive, also concurrent ones', async () => {
      await limitTo((await readStored()) + 1_500_000)
      let closed = 0
      answer = (_, response) => {
        response.on('close', () => closed++)
        // Neither response ends, and together they are too large.
        response.write('x'.repeat(1_000_000))
      }
      const other = await rest.createModel()
      const ids = [await createJob(`${origin}/a`), await createJob(`${origin}/b`, { model_id: other.id })]
      const failed = await eventually(async () => {
        const jobs = await Promise.all(ids.map(async (id) => ({ id, ...(await readJob(id)) })))
        const first = jobs.find(({ state }) => state === 'Failed')
        if (!first) throw new Error('none has failed')
        return first.id
      })
      await expectRejected(failed)
      await eventually(() => expect(closed).toBeGreaterThan(0))
      for (const id of ids) await rest.send('POST', `/v1/preview/training-jobs/${id}/cancel`)
      server.closeAllConnections()
    })
  })

  test('whose server has no trusted TLS certificate are given up after some retries', async () => {
    const id = await createJob(`${origin.replace('http:', 'https:')}/a`)
    await eventually(async () => expect((await readResource(id)).status?.message).toMatch(/could not be reached/))
    await pool.query('UPDATE training.jobs SET input_tries = 11 WHERE id = $1', [id])
    const { failure } = await waitForState(id, 'Failed')
    expect(failure).toEqual({
      category: 'Internal',
      code: 'InputUnreachable',
      message: expect.stringMatching(/could not be reached, or closed the connection \(tried 12 times\)$/),
      retryable: true,
    })
  })

  test('are fetched by the next operator if one is killed during the fetch', async () => {
    answer = (_, response) => {
      // The first request never gets a complete response.
      if (asked.length === 1) response.write(line)
      else response.end(line)
    }
    const id = await createJob(`${origin}/slow`)
    await eventually(() => expect(asked).toHaveLength(1))
    await killPart(stack, 'operator')
    await waitForState(id, 'Queued')
    expect(await readInput(id)).toEqual(storedAs(line))
    expect(asked).toHaveLength(2)
  })

  test('are not trained on if the job is cancelled during the fetch', async () => {
    const { promise: gate, resolve: pass } = Promise.withResolvers<void>()
    answer = (_, response) => void gate.then(() => response.end(line))
    const id = await createJob(`${origin}/cancelled`)
    await eventually(() => expect(asked).toHaveLength(1))
    await rest.call('POST', `/v1/preview/training-jobs/${id}/cancel`)
    pass()
    const job = await waitForState(id, 'Cancelled')
    expect(job.failure).toBeNull()
  })
})

describe('a resource', () => {
  const build = (spec: object, name = `sft-${randomUUID().slice(0, 8)}`) => ({
    apiVersion: 'trainyard.dev/v1alpha1',
    kind: 'TrainingJob',
    metadata: { name, namespace: 'trainyard' },
    spec: { modelRef: { name: modelResource }, method: 'SFT', ...spec },
  })
  let modelResource: string
  beforeEach(async () => {
    const list = await stack.kubectl('get', 'tym', ...namespace, '-l', `trainyard.dev/id=${modelId}`, '-o', 'name')
    modelResource = list.trim().split('/').at(-1) ?? ''
  })

  const waitForPhase = (name: string, phase: string) =>
    eventually(async () => {
      const found = JSON.parse(await stack.kubectl('get', 'tj', name, ...namespace, '-o', 'json')) as Resource
      expect(found.status?.phase).toBe(phase)
      return found
    })

  test('names an upload, and gets the file of its version', async () => {
    const { name, address } = await upload({ 'train.jsonl': line })
    for (const uri of [address, `wandb-artifact:///${entity}/tests/${name}:latest`]) {
      const resource = build({ inputRef: { uri }, config: { learningRates: [0.1, 0.2], batchSize: 2 } })
      await stack.apply(resource)
      const { status } = await waitForPhase(resource.metadata.name, 'Queued')
      expect(await readInput(status?.id ?? '')).toEqual(storedAs(line))
      expect(await readJob(status?.id ?? '')).toMatchObject({
        method: 'SFT',
        training_data_url: uri,
        config: { learning_rate: [0.1, 0.2], batch_size: 2 },
      })
    }
  })

  test('names data on another server, with their required digest', async () => {
    const good = build({ inputRef: { uri: `${origin}/good`, digest: sha256(line) } })
    await stack.apply(good)
    const { status } = await waitForPhase(good.metadata.name, 'Queued')
    expect(await readInput(status?.id ?? '')).toEqual(storedAs(line))
    const bad = build({ inputRef: { uri: `${origin}/bad`, digest: sha256('other') } })
    await stack.apply(bad)
    expect((await waitForPhase(bad.metadata.name, 'Failed')).status).toMatchObject({ reason: 'InputDigestMismatch' })
  })

  test.each([
    ["another entity's upload", { uri: foreign.address }, 'InputNotFound'],
    ["another entity's file, as it is stored", { uri: foreign.stored }, 'InputNotFound'],
    ["another entity's file with a digest", { uri: foreign.stored, digest: foreign.digest }, 'InputNotAllowed'],
    ['a host that is not allowed', { uri: 'https://example.com/a' }, 'InputNotAllowed'],
    ['a private address', { uri: 'https://10.0.0.1/a' }, 'InputNotAllowed'],
    ['a bucket, where there is no S3', { uri: 's3://test-data/a' }, 'InputNotAllowed'],
  ])('that names %s fails', async (_, inputRef, reason) => {
    const resource = build({ inputRef })
    await stack.apply(resource)
    expect((await waitForPhase(resource.metadata.name, 'Failed')).status).toMatchObject({ reason })
  })

  const stored = { uri: 'artifact:///payloads/acme/a.json', digest: 'a'.repeat(64) }
  test.each([
    ['RL on an address elsewhere', { method: 'RL', inputRef: { uri: 'https://example.com/a', digest: stored.digest } }],
    ['RL without a digest', { method: 'RL', inputRef: { uri: stored.uri } }],
    ['RL with a batch size', { method: 'RL', inputRef: stored, config: { batchSize: 2 } }],
    ['RL with rates', { method: 'RL', inputRef: stored, config: { learningRates: [0.1] } }],
    ['SFT with a setting of RL', { inputRef: stored, config: { epsilon: 0.1 } }],
    ['SFT with both kinds of rates', { inputRef: stored, config: { learningRate: 0.1, learningRates: [0.1] } }],
    ['SFT on a file of the node', { inputRef: { uri: 'file:///etc/passwd' } }],
    ['another method', { method: 'DPO', inputRef: stored }],
  ])('of %s is rejected by its definition', async (_, spec) => {
    await expect(stack.apply(build(spec))).rejects.toThrow(/is invalid/)
  })

  test('cannot change its input', async () => {
    const { address } = await upload({ 'train.jsonl': line })
    const resource = build({ inputRef: { uri: address }, config: { learningRates: [0.1] } })
    await stack.apply(resource)
    const changes = [
      { inputRef: { uri: address, digest: sha256(line) } },
      { inputRef: { uri: `${address.slice(0, -1)}1` } },
      { config: { learningRates: [0.2] } },
      { config: { learningRate: 0.1 } },
    ]
    for (const change of changes) {
      const changed = { ...resource, spec: { ...resource.spec, ...change } }
      await expect(stack.apply(changed)).rejects.toThrow(/immutable/)
    }
  })
})

/** Adds an upload of another entity. */
async function addForeignUpload(): Promise<void> {
  const { digest } = foreign
  await new FolderStore(stack.artifacts).put(`artifacts/another/${digest}`, Buffer.from('foreign'))
  await pool.query("INSERT INTO training.blobs (entity, digest, size) VALUES ('another', $1, 7)", [digest])
  await pool.query(
    `WITH made AS (
       INSERT INTO training.artifacts (entity, project, name, last_version) VALUES ('another', 'tests', 'data', 0)
       RETURNING id
     )
     INSERT INTO training.artifact_versions (id, artifact_id, version, digest, size, files, metadata, key_id)
     SELECT gen_random_uuid(), id, 0, $1, 7, $2, '{}', gen_random_uuid() FROM made`,
    [digest, JSON.stringify([{ path: 'train.jsonl', digest, size: 7 }])],
  )
}

async function readResource(id: string): Promise<Resource> {
  const text = await stack.kubectl('get', 'tj', ...namespace, '-l', `trainyard.dev/id=${id}`, '-o', 'json')
  const [resource] = (JSON.parse(text) as { items: Resource[] }).items
  if (!resource) throw new Error('no resource yet')
  return resource
}
