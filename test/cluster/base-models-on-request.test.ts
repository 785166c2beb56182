import { randomUUID } from 'node:crypto'
import { type ServerResponse, createServer } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { BaseModel, Model } from '../../crds/generated.ts'
import { addKey, serveApi, type ServedApi } from '../support/api-server.ts'
import { useTestDatabase } from '../support/database.ts'
import { createRest } from '../support/rest.ts'
import { useStack } from '../support/stack.ts'
import { createNamespace, removeNamespace } from '../support/namespace.ts'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'

const stack = useStack()
const namespace = `request-${randomUUID().slice(0, 8)}`
const sha = 'c0ffee'.padEnd(40, '0')
const defaults = {
  allow: ['org/*'],
  maximum: 4,
  maximumPerEntity: 3,
  baseModel: { engine: { replicas: 0 }, trainer: { warm: { min: 0 } }, lora: { rank: 4, alpha: 8 } },
}

const answers: Record<string, (response: ServerResponse) => void> = {
  'org/missing': (response) => response.writeHead(404).end(),
  'org/gated': (response) => response.writeHead(401).end('{"error":"Access is restricted"}'),
  'org/broken': (response) => response.writeHead(500).end(),
  'org/garbage': (response) => response.end('<html>'),
  'org/branch': (response) => response.end(JSON.stringify({ id: 'org/branch', sha: 'main' })),
  'org/large': (response) => response.end('x'.repeat(3 * 1024 * 1024)),
  'org/Renamed': (response) => response.writeHead(307, { location: '/api/models/org/fine/revision/main' }).end(),
  'org/elsewhere': (response) => response.writeHead(307, { location: 'http://127.0.0.1:1/api' }).end(),
}

let hub: ModelHubServer
const database = useTestDatabase()
let servers: ServedApi[]

beforeAll(async () => {
  await createNamespace(stack, namespace)
  hub = await openModelHub((id, response) =>
    answers[id] ? answers[id](response) : response.end(JSON.stringify({ id, sha, siblings: [] })),
  )
  const env = {
    TRAINYARD_NAMESPACE: namespace,
    TRAINYARD_BASE_MODEL_DEFAULTS: JSON.stringify(defaults),
    TRAINYARD_PRIVATE_NETWORKS: '127.0.0.0/8',
    HF_ENDPOINT: `${hub.url}/`,
  }
  servers = await Promise.all([1, 2].map(() => serveApi(stack, database.databaseUrl, env)))
})
afterAll(async () => {
  await Promise.all((servers ?? []).map((server) => server.remove()))
  await hub?.close()
  await removeNamespace(stack, namespace)
})

/** Creates models of a new entity, at both apiservers in turn. */
async function join(): Promise<
  (baseModel: string) => Promise<{ status: number; text: string; retryAfter: string | null }>
> {
  const key = await addKey(database.pool, `team-${randomUUID()}`)
  let count = 0
  return async (baseModel) => {
    const rest = createRest({ ...stack, url: servers[count++ % servers.length]!.url }, key)
    const response = await rest.send('POST', '/v1/preview/models', { base_model: baseModel })
    return { status: response.status, text: await response.text(), retryAfter: response.headers.get('retry-after') }
  }
}

const listBaseModels = async () => {
  const json = await stack.kubectl('get', 'bm', '-n', namespace, '-l', 'trainyard.dev/made-from=defaults', '-o', 'json')
  return (JSON.parse(json) as { items: BaseModel[] }).items
}
const removeBaseModels = () => stack.kubectl('delete', 'bm', '-n', namespace, '--all')

test('a name that a pattern allows becomes a BaseModel at a commit of the hub, and its model is there at once', async () => {
  const create = await join()
  const { status, text } = await create('org/fine')
  expect([status, JSON.parse(text)]).toEqual([200, expect.objectContaining({ base_model: 'org/fine' })])
  const [made] = await listBaseModels()
  expect(made?.spec).toMatchObject({
    names: ['org/fine'],
    source: { hub: { id: 'org/fine', revision: sha }, trustRemoteCode: false },
    ...defaults.baseModel,
  })
  const models = await stack.kubectl('get', 'models.trainyard.dev', '-n', namespace, '-o', 'json')
  const [model] = (JSON.parse(models) as { items: Model[] }).items
  expect(model?.spec.baseModelRef.name).toBe(made?.metadata.name)
  // The second apiserver finds it, and the hub is not asked again.
  const asked = hub.asked.length
  expect((await create('org/fine')).status).toBe(200)
  expect(hub.asked).toHaveLength(asked)
  await removeBaseModels()
})

test.each([
  ['a name outside of the patterns', 'other/fine', 'New ones are made for names like org/*'],
  ['a name that is no id of the hub', 'org/a/../../b', 'there is no base model'],
  ['a model that the hub does not have', 'org/missing', 'the hub has no such model'],
  ['a gated model', 'org/gated', 'does not show it to everybody'],
  ['a name that the hub redirects to another one', 'org/Renamed', 'the hub calls it org/fine: use that name'],
])('%s is a 422, and nothing is made', async (_, name, sentence) => {
  const create = await join()
  expect(await create(name)).toMatchObject({ status: 422, text: expect.stringContaining(sentence) as string })
  expect(await listBaseModels()).toEqual([])
})

test.each(['org/broken', 'org/garbage', 'org/branch', 'org/large', 'org/elsewhere'])(
  'a hub without a usable answer is a 503 with the time of the next attempt: %s',
  async (name) => {
    const create = await join()
    const { status, text, retryAfter } = await create(name)
    expect([status, retryAfter]).toEqual([503, '30'])
    expect(text).toContain('The hub of models cannot be used now')
    expect(await listBaseModels()).toEqual([])
  },
)

test('a flood of names over two apiservers makes as many as one entity may have; others have the rest, and no more', async () => {
  const [create, createToo] = [await join(), await join()]
  const flood = await Promise.all(Array.from({ length: 8 }, (_, index) => create(`org/flood-${index}`)))
  expect(flood.filter(({ status }) => status === 200)).toHaveLength(defaults.maximumPerEntity)
  expect(flood.find(({ status }) => status === 422)?.text).toContain('this entity has all 3 that it may have')
  const others = await Promise.all(['org/a', 'org/b', 'org/c'].map(createToo))
  expect(others.filter(({ status }) => status === 200)).toHaveLength(1)
  expect(others.find(({ status }) => status === 422)?.text).toContain('all 4 that the administrator allows are there')
  expect(await listBaseModels()).toHaveLength(defaults.maximum)
  await removeBaseModels()
})

test('an entity that names more and more unknown models is stopped before it uses up the hub', async () => {
  const create = await join()
  const asked = hub.asked.length
  const statuses: number[] = []
  for (let index = 0; index < 12; index++) statuses.push((await create('org/missing')).status)
  expect(statuses).toEqual([...Array.from({ length: 10 }, () => 422), 429, 429])
  expect(hub.asked.length - asked).toBe(10)
  expect((await (await join())('org/missing')).status).toBe(422)
})

test('a hub that never answers delays only the entity that waits for it', async () => {
  const [slow, quick] = [await join(), await join()]
  const started = Promise.withResolvers<ServerResponse>()
  answers['org/slow'] = (response) => started.resolve(response)
  const waiting = slow('org/slow')
  const response = await started.promise
  expect((await quick('org/missing')).status).toBe(422)
  response.writeHead(404).end()
  expect((await waiting).status).toBe(422)
})

test('a base model that is made again has the revision that its models were trained on', async () => {
  const earlier = { source: { hub: { id: 'org/again', revision: 'a'.repeat(40) } }, lora: { rank: 2, alpha: 2 } }
  await database.pool.query('INSERT INTO training.base_model_sources (name, trained_on) VALUES ($1, $2)', [
    'org/again',
    earlier,
  ])
  const create = await join()
  expect((await create('org/again')).status).toBe(200)
  const [made] = await listBaseModels()
  expect(made?.spec).toMatchObject(earlier)
  await removeBaseModels()
})

/** A local hub of models, in place of the real one. */
interface ModelHubServer {
  url: string
  /** The paths that were asked, without queries. */
  asked: string[]
  close: () => Promise<void>
}

/** Opens a hub on a free port of 127.0.0.1. `answer` answers the request for a model by its id. */
async function openModelHub(answer: (id: string, response: ServerResponse) => void): Promise<ModelHubServer> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://hub')
    asked.push(pathname)
    const [, id] = /^\/api\/models\/(.+)\/revision\/main$/.exec(pathname) ?? []
    if (id === undefined) response.writeHead(404).end()
    else answer(id, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
