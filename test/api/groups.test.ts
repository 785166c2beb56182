import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { groupNames, type GroupName } from '../../apiserver/groups.ts'
import { addKey, startApiServer, type RunningApiServer } from '../support/api-server.ts'
import { useTestDatabase } from '../support/database.ts'
import { nodeEnv } from '../support/node-env.ts'
import { useServices } from '../support/services.ts'

const stack = useServices()
const servers = {} as Record<GroupName, RunningApiServer>
/** One of all groups. */
let whole: RunningApiServer
const database = useTestDatabase()
let key: string

beforeAll(async () => {
  key = await addKey(database.pool, 'groups', 'admin')
  const start = (env?: Record<string, string>) => startApiServer(stack, database.databaseUrl, env)
  const startOne = async (name: GroupName) => void (servers[name] = await start({ TRAINYARD_GROUPS: name }))
  const startWhole = async () => void (whole = await start())
  await Promise.all([startWhole(), ...groupNames.map(startOne)])
})
afterAll(() => Promise.all([whole, ...Object.values(servers)].map((server) => server?.remove())))

interface Operation {
  method: string
  /** With values for its parameters. */
  path: string
}

const readStatus = async (url: string) => (await fetch(url)).status

/** The operations of a document; none where it is not there. */
async function listOperations(url: string, document: string, prefix = ''): Promise<Operation[]> {
  const response = await fetch(url + document)
  if (!response.ok) return []
  const { paths } = (await response.json()) as { paths: Record<string, object> }
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => ({ method, path: prefix + path.replaceAll(/\{\w+\}/g, 'x') })),
  )
}

const listAll = async (url: string) => [
  ...(await listOperations(url, '/openapi.json')),
  ...(await listOperations(url, '/traces/openapi.json', '/traces')),
]
const nameAll = async (url: string) => (await listAll(url)).map(({ method, path }) => `${method} ${path}`)

const send = (url: string, { method, path }: Operation) =>
  fetch(url + path, { method, headers: { authorization: `Bearer ${key}` } })

/** Resident memory, in MB. */
const readMemory = ({ pid }: RunningApiServer) =>
  Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1_000

describe('a server of one group', () => {
  test('takes less memory than one of all groups', () => {
    expect(readMemory(servers.inference)).toBeLessThan(readMemory(whole) - 10)
  })

  test('has its operations and those that are in every server', async () => {
    const lists = await Promise.all(groupNames.map((name) => nameAll(servers[name].url)))
    const [training, inference, tracing] = lists
    const ofSeveral = training!
      .concat(inference!)
      .filter((each) => lists.filter((list) => list.includes(each)).length > 1)
    const inEvery = /^\w+ \/v1\/(preview\/(keys|session|audit-log|limits|usage)|system-check)(\/|$)/
    expect(ofSeveral.filter((each) => !inEvery.test(each))).toEqual([])
    for (const list of lists) expect(list).toEqual(expect.arrayContaining(ofSeveral))
    const completions = ['post /traces/completions/create', 'post /traces/completions/create_stream']
    const ofAll = new Set(lists.flat().concat(completions))
    expect([...ofAll].toSorted()).toEqual((await nameAll(whole.url)).toSorted())
    expect(training).toContain('get /v1/preview/models')
    expect(inference).toContain('post /v1/chat/completions')
    expect(tracing).toContain('post /traces/calls/query')
  })

  test.each(groupNames)('answers 404 to each path of another group than %s, and names the group', async (name) => {
    const { url } = servers[name]
    const own = new Set((await listAll(url)).map(({ path }) => path))
    const others = (await listAll(whole.url)).filter(({ path }) => !own.has(path))
    expect(others.length).toBeGreaterThan(10)
    for (const operation of others) {
      const response = await send(url, operation)
      const { detail } = (await response.json()) as { detail: string }
      expect({ operation, status: response.status }).toEqual({ operation, status: 404 })
      expect(detail).toMatch(/ does not exist here, because this server does not serve the group \w+\. Send /)
      expect(detail).not.toContain(`group ${name}.`)
    }
  })

  test('answers to its own paths, and says that it is healthy', async () => {
    const { training, inference, tracing } = servers
    expect((await send(training.url, { method: 'get', path: '/v1/preview/models' })).status).toBe(200)
    expect((await send(inference.url, { method: 'get', path: '/v1/models' })).status).toBe(200)
    expect((await send(tracing.url, { method: 'get', path: '/traces/server_info' })).status).toBe(200)
    for (const { url } of Object.values(servers)) {
      expect(await readStatus(`${url}/v1/health`)).toBe(200)
      expect((await send(url, { method: 'get', path: '/v1/preview/keys' })).status).toBe(200)
      expect((await send(url, { method: 'get', path: '/v1/nothing' })).status).toBe(404)
    }
    expect(await readStatus(`${inference.url}/traces/docs`)).toBe(404)
  })

  test('says it without a key too, because weave sends its key in another form', async () => {
    const response = await fetch(`${servers.inference.url}/traces/call/start`, { method: 'POST' })
    expect(response.status).toBe(404)
  })

  test('ends as others do', async () => {
    for (const server of Object.values(servers)) expect(await server.stop()).toBe(0)
  })
})

test('a server of a group that there is not does not start, and says which there are', async () => {
  const env = {
    ...nodeEnv,
    TRAINYARD_HOST: '127.0.0.1',
    DATABASE_URL: database.databaseUrl,
    TRAINYARD_ARTIFACTS: stack.artifacts,
    TRAINYARD_NAMESPACE: 'trainyard',
    TRAINYARD_ENGINE_KEY: 'none',
    KUBECONFIG: stack.kubeconfig,
    TRAINYARD_GROUPS: 'inference,trainings',
  }
  await expect(promisify(execFile)(process.execPath, ['apiserver/main.ts'], { env })).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining(
      'TRAINYARD_GROUPS must be one or more of training, inference, tracing, console, separated by commas',
    ) as string,
  })
})
