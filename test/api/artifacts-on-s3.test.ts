import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { readFile, readdir, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addKey, startApiServer, type RunningApiServer } from '../support/api-server.ts'
import { useTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { createRest, type Rest } from '../support/rest.ts'
import { startS3Server, type S3Server } from '../support/s3-server.ts'
import { openSeverableProxy, type SeverableProxy } from '../support/severable-proxy.ts'
import { useOwnStack } from '../support/api-server.ts'
import { commitArtifact, createArtifact, linkFile, putManifest } from '../support/wandb-upload.ts'

const stack = await useOwnStack()
const entity = 's3-team'
let s3: S3Server
let wayToS3: SeverableProxy
const database = useTestDatabase()
let server: RunningApiServer
let apiKey: string
let rest: Rest

beforeAll(async () => {
  s3 = await startS3Server()
  wayToS3 = await openSeverableProxy({ host: '127.0.0.1', port: s3.port })
  server = await startApiServer({ ...stack, artifacts: `s3://${s3.bucket}/trainyard` }, database.databaseUrl, {
    TRAINYARD_S3_ENDPOINT: `http://127.0.0.1:${wayToS3.port}`,
    ...s3.credentials,
  })
  await database.pool.query(
    'INSERT INTO training.base_models (name, names, namespace, cr_name) VALUES ($1, ARRAY[$2], $3, $1)',
    ['tiny', stack.baseModel, 'trainyard'],
  )
  apiKey = await addKey(database.pool, entity)
  rest = createRest({ ...stack, url: server.url }, apiKey)
}, 600_000)

afterAll(async () => {
  await server?.remove()
  await wayToS3?.close()
  await s3?.stop()
})

const lengthOf = (bytes: Uint8Array) => ({ 'content-length': String(bytes.length) })
const sha256 = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const pathOf = (name: string, more = '') => `/v1/preview/artifacts/${entity}/tests/${name}${more}`

async function send(method: string, route: string, body?: RequestInit['body'], headers: Record<string, string> = {}) {
  const authorization = `Bearer ${apiKey}`
  const init = { method, headers: { authorization, ...headers }, ...(body !== undefined && { body, duplex: 'half' }) }
  return fetch(server.url + route, init as RequestInit)
}

const startJob = (modelId: string) =>
  send(
    'POST',
    '/v1/preview/training-jobs',
    JSON.stringify({
      model_id: modelId,
      trajectory_groups: [{ trajectories: [{ messages_and_choices: [], reward: 1 }] }],
    }),
    { 'content-type': 'application/json' },
  )

test("a training job's trajectories are stored in the bucket", async () => {
  const model = await rest.createModel()
  const response = await startJob(model.id)
  expect(response.status).toBeLessThan(300)
  const folder = path.join(s3.folder, 'trainyard/payloads', entity)
  const [name = ''] = await readdir(folder)
  const bytes = await readFile(path.join(folder, name))
  expect(name).toBe(`${sha256(bytes)}.json`)
  expect(JSON.parse(bytes.toString())).toMatchObject({ trajectory_groups: [{ trajectories: [{ reward: 1 }] }] })
})

test('a data set of many megabytes is stored in parts and read in ranges', async () => {
  const chunks = Array.from({ length: 40 }, () => randomBytes(1024 * 1024))
  const all = Buffer.concat(chunks)
  const body = Readable.toWeb(Readable.from(chunks)) as RequestInit['body']
  const made = await send('PUT', pathOf('large', '?check=none'), body)
  expect(await made.json()).toMatchObject({ version: 'v0', files: [{ digest: sha256(all), size: all.length }] })
  const whole = await send('GET', pathOf('large', ':latest/files/train.jsonl'))
  expect(sha256(Buffer.from(await whole.arrayBuffer()))).toBe(sha256(all))
  const range = { range: 'bytes=17000000-17000099' }
  const part = await send('GET', pathOf('large', '/files/train.jsonl'), undefined, range)
  expect(part.status).toBe(206)
  expect(Buffer.from(await part.arrayBuffer())).toEqual(all.subarray(17_000_000, 17_000_100))
})

test('a file of an artifact of the wandb SDK goes to the bucket as it arrives, also while others do', async () => {
  const api = { url: server.url, key: apiKey }
  const spool = path.join(tmpdir(), 'trainyard-spool')
  const upload = async (name: string) => {
    const bytes = randomBytes(24 * 1024 * 1024)
    const files = [{ path: 'weights.bin', md5: createHash('md5').update(bytes).digest('base64'), size: bytes.length }]
    const id = await createArtifact(api, { project: 'tests', name }, files)
    const { uploadUrl } = await linkFile(api, id, files[0]!)
    const [first, second] = [bytes.subarray(0, 6_000_000), bytes.subarray(6_000_000)]
    // Nothing of it is on the local disk.
    const body = Readable.from(
      (async function* () {
        yield first
        await eventually(async () => {
          const sizes = await Promise.all((await readdir(spool)).map((file) => stat(path.join(spool, file))))
          expect(sizes.filter(({ size }) => size > 4 * 1024 * 1024)).toEqual([])
        })
        yield second
      })(),
    )
    const sent = { method: 'PUT', body: Readable.toWeb(body), duplex: 'half', headers: lengthOf(bytes) } as RequestInit
    expect((await fetch(uploadUrl!, sent)).status).toBe(200)
    await putManifest(api, id, files)
    const link = await commitArtifact(api, id)
    const range = await fetch(link, { headers: { range: 'bytes=17000000-17000099' } })
    expect(Buffer.from(await range.arrayBuffer())).toEqual(bytes.subarray(17_000_000, 17_000_100))
    expect(sha256(Buffer.from(await (await fetch(link)).arrayBuffer()))).toBe(sha256(bytes))
  }
  await Promise.all(['weights-1', 'weights-2'].map(upload))
})

test('an upload of the wandb SDK that the bucket breaks gets a 503, and works again afterwards', async () => {
  const api = { url: server.url, key: apiKey }
  const bytes = randomBytes(6 * 1024 * 1024)
  const file = { path: 'weights.bin', md5: createHash('md5').update(bytes).digest('base64'), size: bytes.length }
  const id = await createArtifact(api, { project: 'tests', name: 'broken' }, [file])
  const { uploadUrl } = await linkFile(api, id, file)
  wayToS3.cut()
  const put = () => fetch(uploadUrl!, { method: 'PUT', body: bytes })
  expect((await put()).status).toBe(503)
  wayToS3.mend()
  await eventually(async () => expect((await put()).status).toBe(200))
})

test('while the bucket is unavailable clients get 503 with Retry-After, and afterwards everything works', async () => {
  const model = await rest.createModel()
  await send('PUT', pathOf('small', '?check=none'), 'bytes')
  wayToS3.cut()
  for (const answer of [
    await startJob(model.id),
    await send('PUT', pathOf(`new-${randomUUID()}`, '?check=none'), 'other bytes'),
    await send('GET', pathOf('small', '/files/train.jsonl')),
  ]) {
    expect({ status: answer.status, retry: answer.headers.get('retry-after') }).toEqual({
      status: 503,
      retry: expect.stringMatching(/^\d+$/),
    })
    expect(await answer.json()).toEqual({ detail: expect.stringMatching(/artifact store/) })
  }
  expect((await send('GET', '/v1/health')).status).toBe(200)
  wayToS3.mend()
  await eventually(async () => expect((await startJob(model.id)).status).toBeLessThan(300))
  expect(await (await send('GET', pathOf('small', '/files/train.jsonl'))).text()).toBe('bytes')
})
