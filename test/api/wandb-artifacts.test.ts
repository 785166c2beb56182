import { createHash, randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { addKey, useApiServer } from '../support/api-server.ts'
import { createTraceClient, type TraceClient } from '../support/trace-client.ts'
import { useServices } from '../support/services.ts'
import {
  commitArtifact,
  completeParts,
  createArtifact,
  linkFile as askLink,
  md5Of,
  putManifest as sendManifest,
} from '../support/wandb-upload.ts'

const stack = useServices()
const own = useApiServer()
let team: TraceClient
let others: TraceClient
let key: string

beforeAll(async () => {
  key = await addKey(own.database.pool, 'team')
  team = createTraceClient(own.server.url, key)
  others = createTraceClient(own.server.url, await addKey(own.database.pool, 'others'))
})

const md5 = (bytes: string) => createHash('md5').update(bytes).digest('base64')
const message = (text: RegExp) => ({ data: null, errors: [{ message: expect.stringMatching(text) as string }] })

interface Answer {
  data: Record<string, never> | null
  errors?: unknown
}

async function ask(client: TraceClient, query: string, variables: object = {}): Promise<Answer> {
  const { status, body } = await client.post('/graphql', { query, variables })
  expect(status).toBe(200)
  return body as Answer
}

/** The value at a path of an answer. */
function pick<T = string>(answer: Answer, ...path: (string | number)[]): T {
  let value: unknown = answer.data
  for (const step of path) value = (value as Record<string | number, unknown>)[step]
  return value as T
}

const digestOf = (path: string, content: string) =>
  createHash('md5')
    .update(`wandb-artifact-manifest-v1\n${path}:${md5(content)}\n`)
    .digest('hex')

test.each(['runName', 'clientID'])('a long %s is an error', async (name) => {
  const given = {
    projectName: 'proj',
    artifactTypeName: 'dataset',
    artifactCollectionName: 'long',
    digest: digestOf('a', 'a'),
  }
  const query = 'mutation A($input: I!) { createArtifact(input: $input) { artifact { id } } }'
  const input = { ...given, [name]: 'x'.repeat(257) }
  expect(await ask(team, query, { input })).toMatchObject(message(/longer than 256 characters/))
})

async function create(name: string, content: string, alias: string, digest = digestOf('train.jsonl', content)) {
  const input = {
    projectName: 'proj',
    artifactTypeName: 'dataset',
    artifactCollectionName: name,
    digest,
    aliases: [{ alias, artifactCollectionName: name }],
    enableDigestDeduplication: true,
  }
  const query = 'mutation A($input: I!) { createArtifact(input: $input) { artifact { id state } } }'
  return pick<{ id: string; state: string }>(await ask(team, query, { input }), 'createArtifact', 'artifact')
}

async function linkFile(id: string, content: string): Promise<string | null> {
  const query =
    'mutation A($files: F!) { createArtifactFiles(input: {artifactFiles: $files}) { files { edges { node { uploadUrl } } } } }'
  const files = [{ artifactID: id, name: 'train.jsonl', md5: md5(content) }]
  return pick(await ask(team, query, { files }), 'createArtifactFiles', 'files', 'edges', 0, 'node', 'uploadUrl')
}

async function putManifest(id: string, content: string, size = content.length): Promise<number> {
  const contents = { 'train.jsonl': { digest: md5(content), size } }
  const manifest = JSON.stringify({ version: 1, contents })
  const query = `mutation A($id: ID!, $digest: String!) { createArtifactManifest(input: {artifactID: $id, digest: $digest}) {
    artifactManifest { file { uploadUrl } } } }`
  const answer = await ask(team, query, { id, digest: md5(manifest) })
  const url = pick(answer, 'createArtifactManifest', 'artifactManifest', 'file', 'uploadUrl')
  return (await fetch(url, { method: 'PUT', body: manifest })).status
}

const commit = (id: string) =>
  ask(team, 'mutation A($id: ID!) { commitArtifact(input: {artifactID: $id}) { artifact { versionIndex } } }', { id })

const read = (client: TraceClient, name: string) =>
  ask(
    client,
    `query A($name: String!) { project(name: "proj") { artifactCollectionMembership(name: $name) {
      versionIndex aliases { alias } artifact { id digest currentManifest { file { directUrl } } }
      files { edges { node { name directUrl } } } } } }`,
    { name },
  )

test('a version is created, uploaded, committed once, and read by its link and by address', async () => {
  const { id, state } = await create('data', '{}\n', 'first')
  expect(state).toBe('PENDING')
  expect(await commit(id)).toMatchObject(message(/manifest of the artifact was not uploaded/))
  const url = (await linkFile(id, '{}\n'))!
  expect(await putManifest(id, '{}\n')).toBe(200)
  expect(await commit(id)).toMatchObject(message(/1 files of the artifact are not stored/))
  expect((await fetch(url, { method: 'PUT', body: 'no' })).status).toBe(400)
  expect((await fetch(url, { method: 'PUT', body: '{}\n', headers: { 'content-md5': md5('{}\n') } })).status).toBe(200)
  // It is invisible until then.
  expect(await read(team, 'data:first')).toEqual({ data: { project: { artifactCollectionMembership: null } } })
  const done = { data: { commitArtifact: { artifact: { versionIndex: 0 } } } }
  expect([await commit(id), await commit(id)]).toEqual([done, done])

  const answer = await read(team, 'data:first')
  const path = ['project', 'artifactCollectionMembership'] as const
  expect(pick<object>(answer, ...path)).toMatchObject({
    versionIndex: 0,
    aliases: [{ alias: 'first' }, { alias: 'latest' }],
    artifact: { id, digest: digestOf('train.jsonl', '{}\n') },
  })
  const file = pick(answer, ...path, 'files', 'edges', 0, 'node', 'directUrl')
  expect(await (await fetch(file)).text()).toBe('{}\n')
  const range = await fetch(file, { headers: { range: 'bytes=1-1' } })
  expect([range.status, await range.text()]).toEqual([206, '}'])
  // No path of a download takes an upload.
  expect((await fetch(file, { method: 'PUT', body: '' })).status).toBe(401)
  const manifest = pick(answer, ...path, 'artifact', 'currentManifest', 'file', 'directUrl')
  expect(await (await fetch(manifest)).json()).toMatchObject({ contents: { 'train.jsonl': { birthArtifactID: id } } })
  const hex = Buffer.from(md5('{}\n'), 'base64').toString('hex')
  for (const fallback of [`team/${id}/${hex}`, `team/proj/data/${id}/${hex}/train.jsonl`]) {
    expect(await (await team.send('GET', `/artifactsV2/default/${fallback}`)).text()).toBe('{}\n')
    expect((await others.send('GET', `/artifactsV2/default/${fallback}`)).status).toBe(404)
  }

  const rest = await fetch(`${own.server.url}/v1/preview/artifacts/team/proj/data`, {
    headers: { authorization: `Bearer ${key}` },
  })
  expect(await rest.json()).toMatchObject({ version: 'v0', files: [{ path: 'train.jsonl', size: 3 }] })
})

test('equal content is one version, and one file', async () => {
  const again = await create('data', '{}\n', 'second')
  expect(again.state).toBe('COMMITTED')
  expect(pick(await read(team, 'data:second'), 'project', 'artifactCollectionMembership', 'artifact', 'id')).toBe(
    again.id,
  )
  const copy = await create('copy', '{}\n', 'a')
  expect(copy.state).toBe('PENDING')
  expect(await linkFile(copy.id, '{}\n')).toBe(null)
})

test('an upload by address is read by the SDK', async () => {
  const url = `${own.server.url}/v1/preview/artifacts/team/proj/by-address?file=a.txt`
  expect((await fetch(url, { method: 'PUT', body: 'text', headers: { authorization: `Bearer ${key}` } })).status).toBe(
    200,
  )
  const answer = await read(team, 'by-address:v0')
  expect(pick<object>(answer, 'project', 'artifactCollectionMembership', 'artifact')).toMatchObject({
    digest: digestOf('a.txt', 'text'),
  })
})

test.each<[string, () => Promise<void>]>([
  [
    'digest of the artifact',
    async () => {
      const { id } = await create('lies', '{}\n', 'x', '0'.repeat(32))
      await putManifest(id, '{}\n')
      expect(await commit(id)).toMatchObject(message(/its manifest has the digest/))
    },
  ],
  [
    'size',
    async () => {
      const { id } = await create('lies', '{}\n', 'x')
      await putManifest(id, '{}\n', 4)
      expect(await commit(id)).toMatchObject(message(/not stored, or have another size/))
    },
  ],
])('a wrong %s is rejected, and no version appears', async (_, attempt) => {
  await attempt()
  expect(await read(team, 'lies')).toEqual({ data: { project: { artifactCollectionMembership: null } } })
})

test('another entity sees nothing, and its links open nothing', async () => {
  const { id } = pick<{ id: string }>(await read(team, 'data'), 'project', 'artifactCollectionMembership', 'artifact')
  expect(await ask(others, '{ artifact(id: "' + id + '") { id } }')).toEqual({ data: { artifact: null } })
  for (const mutation of [
    'commitArtifact',
    'updateArtifact',
    'addAliases',
    'deleteAliases',
    'deleteArtifact',
    'useArtifact',
  ])
    expect(await ask(others, `mutation { ${mutation}(input: {artifactID: "${id}"}) { __typename } }`)).toMatchObject(
      message(/not found/),
    )
})

test('a version with aliases is deleted with them only', async () => {
  const { id } = pick<{ id: string }>(await read(team, 'data'), 'project', 'artifactCollectionMembership', 'artifact')
  const remove = (more: string) =>
    ask(team, `mutation { deleteArtifact(input: {artifactID: "${id}"${more}}) { artifact { id } } }`)
  expect(await remove('')).toMatchObject(message(/aliases/))
  expect(await remove(', deleteAliases: true')).toEqual({ data: { deleteArtifact: { artifact: { id } } } })
  expect(await read(team, 'data')).toEqual({ data: { project: { artifactCollectionMembership: null } } })
})

describe('a large file', () => {
  const entity = 'streaming'
  const api = { url: '', key: '' }
  const listBelow = (folder: string) =>
    readdir(join(stack.artifacts, folder, entity), { recursive: true }).catch(() => [] as string[])
  const put = (url: string, body: Uint8Array<ArrayBuffer>) => fetch(url, { method: 'PUT', body })
  const hexOf = (bytes: Uint8Array) => createHash('md5').update(bytes).digest('hex')

  beforeAll(async () => {
    Object.assign(api, { url: own.server.url, key: await addKey(own.database.pool, entity) })
  })

  /** Begins a version with one file. */
  async function begin(name: string, bytes: Uint8Array) {
    const files = [{ path: 'weights.bin', md5: md5Of(bytes), size: bytes.length }]
    return { id: await createArtifact(api, { project: 'proj', name }, files), files, file: files[0]! }
  }

  test('goes to the store as it arrives, once for equal bytes, and is refused with another MD5', async () => {
    const bytes = randomBytes(5 * 1024 * 1024)
    const { id, files, file } = await begin('large', bytes)
    const { uploadUrl } = await askLink(api, id, file)
    const wrong = Buffer.from(bytes)
    wrong[7]! ^= 1
    expect((await put(uploadUrl!, wrong)).status).toBe(400)
    expect(await listBelow('artifacts')).toEqual([])
    // Two at once, of which one is dropped.
    const answers = await Promise.all([put(uploadUrl!, bytes), put(uploadUrl!, bytes)])
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    expect(await listBelow('artifacts')).toHaveLength(1)
    expect(await askLink(api, id, file)).toMatchObject({ uploadUrl: null })
    await sendManifest(api, id, files)
    const link = await commitArtifact(api, id)
    expect(hexOf(new Uint8Array(await (await fetch(link)).arrayBuffer()))).toBe(hexOf(bytes))
    const range = await fetch(link, { headers: { range: 'bytes=4194304-4194313' } })
    expect([range.status, Buffer.from(await range.arrayBuffer())]).toEqual([206, bytes.subarray(4_194_304, 4_194_314)])
    // The same bytes by their digest are the same file.
    const digest = createHash('sha256').update(bytes).digest('hex')
    const byDigest = `${api.url}/v1/preview/artifacts/${entity}/proj/other/blobs/${digest}`
    const again = await fetch(byDigest, { method: 'PUT', body: bytes, headers: { authorization: `Bearer ${api.key}` } })
    expect(await again.json()).toMatchObject({ complete: true, size: bytes.length })
    expect((await listBelow('artifacts')).length).toBe(2) // it and the manifest
  })

  test('arrives in parts, in any order and again, and is joined once', async () => {
    const bytes = randomBytes(2 * 5 * 1024 * 1024 + 1_000)
    const pieces = [0, 1, 2].map((at) => bytes.subarray(at * 5_242_880, (at + 1) * 5_242_880))
    const parts = pieces.map(hexOf)
    const { id, files, file } = await begin('parted', bytes)
    const link = await askLink(api, id, file, parts)
    const urls = link.uploadMultipartUrls!.uploadUrlParts.map(({ uploadUrl }) => uploadUrl)
    for (const at of [2, 0]) {
      const answer = await put(urls[at]!, pieces[at]!)
      expect([answer.status, answer.headers.get('etag')]).toEqual([200, `"${parts[at]}"`])
    }
    for (const at of [1, 2]) expect((await put(urls[at]!, pieces[0]!)).status).toBe(400)
    await expect(completeParts(api, id, link, parts)).rejects.toThrow('1 parts of the file were not uploaded: 2')
    expect((await put(urls[1]!, pieces[1]!)).status).toBe(200)
    // In another order, the parts are another file.
    const { uploadMultipartUrls } = link
    await expect(completeParts(api, id, link, [parts[1]!, parts[0]!, parts[2]!])).rejects.toThrow('not uploaded')
    await Promise.all([completeParts(api, id, link, parts), completeParts(api, id, link, parts)])
    await completeParts(api, id, { ...link, uploadMultipartUrls }, parts)
    expect(await listBelow('uploads')).toEqual([id.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')])
    await sendManifest(api, id, files)
    const whole = await (await fetch(await commitArtifact(api, id))).arrayBuffer()
    expect(hexOf(new Uint8Array(whole))).toBe(hexOf(bytes))
  })
})
