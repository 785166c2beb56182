import { createHash, randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { readWireId, toWireId } from '../../apiserver/wandb/artifacts/ids.ts'
import { createArtifactsResource } from '../../apiserver/wandb/artifacts/resource.ts'
import { createLoginResource } from '../../apiserver/wandb/login/resource.ts'
import { Links } from '../../apiserver/wandb/links/links.ts'
import { openWandb } from '../../apiserver/wandb/open-wandb.ts'
import { createRunFilesResource } from '../../apiserver/wandb/run-files/resource.ts'
import { createRunsResource } from '../../apiserver/wandb/runs/resource.ts'
import { addKey, useApiServer } from '../support/api-server.ts'
import { basic } from '../support/post.ts'
import { askGraphql, postGraphql, uploadRunFile, upsertRun } from '../support/wandb.ts'

// Every route and every root field of GraphQL is called with another entity's ids and with ids of nothing. The answers
// are the same. A new field needs its arguments in `fields`; a new route needs them only for a parameter of a new kind.

const own = useApiServer()
let owner: { url: string; key: string }
let other: { url: string; key: string }

interface Ids {
  entity: string
  run: string
  runId: string
  fileId: string
  artifact: string
  collection: string
  digest: string
  md5: string
}
let ids: Ids

const content = `${JSON.stringify({ messages: [{ role: 'assistant', content: 'a' }] })}\n`
const digest = (algorithm: string, text: string) => createHash(algorithm).update(text).digest('hex')

/** The same kinds of ids, of nothing. */
function makeUnknown(): Ids {
  return {
    entity: `team-${randomUUID()}`,
    run: 'unknown',
    runId: randomUUID(),
    fileId: randomUUID(),
    artifact: toWireId(randomUUID()),
    collection: toWireId(randomUUID()),
    digest: digest('sha256', randomUUID()),
    md5: digest('md5', randomUUID()),
  }
}

beforeAll(async () => {
  const { pool } = own.database
  const entity = `team-${randomUUID()}`
  owner = { url: own.server.url, key: await addKey(pool, entity) }
  other = { url: own.server.url, key: await addKey(pool, 'others') }
  const runId = await upsertRun(owner, { modelName: 'own', name: 'run' })
  await uploadRunFile(owner, { entity, project: 'own', run: 'run' }, { path: 'a.txt', content: 'a' })
  const headers = { authorization: `Bearer ${owner.key}`, 'content-type': 'application/jsonl' }
  const url = `${owner.url}/v1/preview/artifacts/${entity}/own/data?file=train.jsonl`
  const uploaded = await fetch(url, { method: 'PUT', headers, body: content })
  if (!uploaded.ok) throw new Error(await uploaded.text())
  const { project } = await readOwn()
  const file = project.run.files.edges[0]!.node.id
  const { id: artifact, artifactSequence } = project.artifact
  ids = { entity, run: 'run', runId, fileId: file, artifact, collection: artifactSequence.id, ...digestsOf(content) }
})

const digestsOf = (text: string) => ({ digest: digest('sha256', text), md5: digest('md5', text) })

interface Owned {
  project: {
    run: { notes: null; state: string; stopped: boolean; files: { edges: { node: { id: string } }[] } }
    artifact: { id: string; state: string; description: null; artifactSequence: { id: string } }
  }
}

const readOwn = () =>
  askGraphql<Owned>(
    owner,
    `{ project(name: "own") { run(name: "run") { notes state stopped files { edges { node { id } } } }
       artifact(name: "data:v0") { id state description metadata aliases { alias } artifactSequence { id } } } }`,
  )

const noDeps = {} as never
const resources = [
  createArtifactsResource(noDeps),
  createLoginResource(noDeps),
  createRunFilesResource(noDeps),
  createRunsResource(noDeps),
]
const listNames = (kind: 'query' | 'mutation') => resources.flatMap((resource) => Object.keys(resource[kind] ?? {}))

const text = JSON.stringify
const alias = ({ entity }: Ids) =>
  `aliases: [{alias: "mine", artifactCollectionName: "data", entityName: ${text(entity)}, projectName: "own"}]`

/** The selections of each root field. */
const fields: Record<string, (of: Ids) => string[]> = {
  model: ({ entity, run }) => [`model(name: "own", entityName: ${text(entity)}) { bucket(name: ${text(run)}) { id } }`],
  models: ({ entity }) => [`models(entityName: ${text(entity)}) { edges { cursor } }`],
  artifact: ({ artifact }) => [`artifact(id: ${text(artifact)}) { id digest }`],
  artifactCollection: ({ collection }) => [`artifactCollection(id: ${text(collection)}) { id name }`],
  clientIDMapping: ({ artifact }) => [`clientIDMapping(clientID: ${text(artifact)}) { serverID }`],
  upsertBucket: ({ entity, runId }) => [
    `upsertBucket(input: {id: ${text(runId)}, notes: "mine"}) { bucket { id } }`,
    `upsertBucket(input: {entityName: ${text(entity)}, modelName: "own", name: "run", notes: "mine"}) { bucket { id } }`,
  ],
  deleteRun: ({ runId }) => [`deleteRun(input: {id: ${text(runId)}}) { clientMutationId }`],
  deleteModel: ({ entity }) => [`deleteModel(input: {id: ${text(`${entity}/own`)}}) { success }`],
  updateRunState: ({ runId }) => [`updateRunState(input: {id: ${text(runId)}, state: "failed"}) { success }`],
  stopRun: ({ runId }) => [`stopRun(input: {id: ${text(runId)}}) { success }`],
  createRunFiles: ({ entity, run }) => [
    `createRunFiles(input: {entityName: ${text(entity)}, projectName: "own", runName: ${text(run)}, files: ["a.txt"]}) { runID }`,
  ],
  markRunFilesUploaded: ({ runId }) => [`markRunFilesUploaded(input: {runID: ${text(runId)}}) { success }`],
  deleteFiles: ({ fileId }) => [`deleteFiles(input: {files: [${text(fileId)}]}) { success }`],
  upsertModel: ({ entity }) => [`upsertModel(input: {entityName: ${text(entity)}, name: "own"}) { model { id } }`],
  createArtifact: ({ entity }) => [
    `createArtifact(input: {entityName: ${text(entity)}, projectName: "own", artifactTypeName: "dataset",
       artifactCollectionName: "data", digest: "${'0'.repeat(32)}"}) { artifact { id } }`,
  ],
  createArtifactManifest: ({ artifact }) => [
    `createArtifactManifest(input: {artifactID: ${text(artifact)}, digest: "AAAAAAAAAAAAAAAAAAAAAA=="}) { artifactManifest { id } }`,
  ],
  createArtifactFiles: ({ artifact }) => [
    `createArtifactFiles(input: {artifactFiles: [{artifactID: ${text(artifact)}, name: "a", md5: "AAAAAAAAAAAAAAAAAAAAAA=="}]}) {
       files { edges { node { id } } } }`,
  ],
  completeMultipartUploadArtifact: ({ artifact }) => [
    `completeMultipartUploadArtifact(input: {artifactID: ${text(artifact)}, uploadID: "a", completedParts: [],
       completeMultipartAction: "Complete", storagePath: "a"}) { digest }`,
  ],
  commitArtifact: ({ artifact }) => [`commitArtifact(input: {artifactID: ${text(artifact)}}) { artifact { id } }`],
  updateArtifact: ({ artifact }) => [
    `updateArtifact(input: {artifactID: ${text(artifact)}, description: "mine"}) { artifact { id } }`,
  ],
  addAliases: (of) => [`addAliases(input: {artifactID: ${text(of.artifact)}, ${alias(of)}}) { success }`],
  deleteAliases: (of) => [`deleteAliases(input: {artifactID: ${text(of.artifact)}, ${alias(of)}}) { success }`],
  deleteArtifact: ({ artifact }) => [
    `deleteArtifact(input: {artifactID: ${text(artifact)}, deleteAliases: true}) { artifact { id } }`,
  ],
  deleteArtifactSequence: ({ collection }) => [
    `deleteArtifactSequence(input: {artifactSequenceID: ${text(collection)}}) { artifactCollection { id } }`,
  ],
  useArtifact: ({ artifact, entity }) => [
    `useArtifact(input: {artifactID: ${text(artifact)}, entityName: ${text(entity)}}) { artifact { id } }`,
  ],
}

/** An answer without the ids that were sent, which it may name. */
async function read(response: Response, sent: Ids): Promise<{ status: number; body: string }> {
  const body = await response.text()
  // Errors name artifacts by the ids that are in those of the wire.
  const bare = [sent.artifact, sent.collection].map((id) => readWireId(id))
  const long = [...Object.values(sent), ...bare].filter((id) => id.length > 3)
  return { status: response.status, body: long.reduce((rest, id) => rest.replaceAll(id, 'ID'), body) }
}

describe("another entity's things and unknown ones get the same answer", () => {
  test.each([...listNames('query'), ...listNames('mutation')])('of the field %s', async (name) => {
    const select = fields[name]
    if (!select) throw new Error(`the table of this test has no arguments for ${name}`)
    const kind = listNames('query').includes(name) ? 'query' : 'mutation'
    const ask = (of: Ids) =>
      Promise.all(select(of).map(async (field) => read(await postGraphql(other, `${kind} A { ${field} }`), of)))
    expect(await ask(ids)).toEqual(await ask(makeUnknown()))
  })

  const { operations } = openWandb({ admission: {}, hasTraining: true, traceProjects: {} } as never)
  const routes = operations.filter(({ path }) => path.includes('{'))

  test.each(routes.map(({ method, path }) => [method.toUpperCase(), path] as const))(
    'of %s %s',
    async (method, path) => {
      const { pool } = own.database
      // As if the server had signed it for the other entity's key.
      const keyDigest = createHash('sha256').update(other.key).digest('base64url')
      const signLink = await new Links(pool).openSigner(other.url, keyDigest)
      const send = async (of: Ids) => {
        const filled = fillPath(path, of)
        const url = signLink({ method: method === 'PUT' ? 'PUT' : 'GET', path: filled })
        const isLink = /^\/v1\/links|run_files/.test(path)
        const headers = { ...basic(other.key), 'content-type': 'application/json' }
        const body = method === 'GET' ? null : JSON.stringify({ complete: true })
        const response = await fetch(isLink ? url : other.url + filled, { method, body, ...(!isLink && { headers }) })
        return read(response, of)
      }
      const [foreign, unknown] = [await send(ids), await send(makeUnknown())]
      expect(foreign).toEqual(unknown)
      expect([403, 404]).toContain(foreign.status)
    },
  )
})

function fillPath(path: string, { entity, run, artifact, digest: sha256, md5 }: Ids): string {
  const known: Record<string, string> = {
    entity,
    run,
    md5,
    project: 'own',
    collection: 'data',
    region: 'default',
    'path*': 'a.txt',
    part: '1',
    partMd5: md5,
    digest: sha256,
    id: artifact,
  }
  return path.replaceAll(/\{([\w*]+)\}/g, (_, name: string) => {
    if (known[name] === undefined) throw new Error(`this test has nothing for the parameter ${name}`)
    return encodeURIComponent(known[name])
  })
}

test('nothing of the owner has changed, and it can do all of that itself', async () => {
  expect(await readOwn()).toMatchObject({
    project: {
      run: { notes: null, state: 'running', stopped: false, files: { edges: [{ node: { id: ids.fileId } }] } },
      artifact: { id: ids.artifact, state: 'COMMITTED', aliases: [{ alias: 'latest' }] },
    },
  })
  const harmless = ['upsertBucket', 'updateArtifact', 'createRunFiles', 'useArtifact', 'stopRun', 'deleteFiles']
  const last = ['deleteRun', 'deleteArtifact', 'deleteModel']
  for (const name of [...harmless, ...last]) {
    for (const field of fields[name]!(ids)) {
      const answer = (await (await postGraphql(owner, `mutation A { ${field} }`)).json()) as { errors?: unknown }
      expect([name, answer.errors]).toEqual([name, undefined])
    }
  }
})
