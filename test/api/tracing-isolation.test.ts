import { beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../apiserver/tracing/ids.ts'
import { addKey, useApiServer } from '../support/api-server.ts'
import { askOf, makeTraces, price, type Traces } from '../support/own-traces.ts'
import { createTraceClient, type TraceClient } from '../support/trace-client.ts'
import { listTraceOperations } from '../support/trace-operations.ts'

// The test puts a mark into every text of one project, and searches for the mark in all answers of two other projects:
// one of another entity with the same name, and one of the same entity. These contain things with the same ids, and
// references to the marked ones. Nothing of them may appear in the first project.

const operations = await listTraceOperations()
const reads = operations.filter(
  ({ method, path }) =>
    method === 'GET' ||
    /(\/(read|read_batch|query|query_stats|query_stats_batch|\w+_query|query_stream|content|stats))$/.test(path),
)
const own = useApiServer({ LOG_LEVEL: 'error' })

const mark = `mark${newId().replaceAll('-', '')}`
const bait = `bait${newId().replaceAll('-', '')}`
const ourProject = 'team/project'
const at = '2026-11-21T10:00:00Z'
let ours: Traces
let team: TraceClient
let others: TraceClient

const callRef = () => `weave:///${ourProject}/call/${ours.callId}`
const objectRef = () => `weave:///${ourProject}/object/${ours.objectName}:${ours.objectDigest}`
const tableRef = () => `weave:///${ourProject}/table/${ours.tableDigest}`

beforeAll(async () => {
  team = createTraceClient(own.server.url, await addKey(own.database.pool, 'team'))
  others = createTraceClient(own.server.url, await addKey(own.database.pool, 'others'))
  ours = await makeTraces(team, ourProject, mark, 'shared')
})

/**
 * Stores things with the same ids, or with references to the marked project. Returns the digest of an object with such
 * a reference.
 */
async function lead(client: TraceClient, project_id: string): Promise<string> {
  await client.call('/table/create_from_digests', { project_id, row_digests: [ours.rowDigest] })
  const val = { bait, model: objectRef(), rows: tableRef() }
  const object_id = ours.objectName
  const { digest } = await client.call<{ digest: string }>('/obj/create', { obj: { project_id, object_id, val } })
  const call = {
    project_id,
    id: ours.callId,
    trace_id: newId(),
    op_name: objectRef(),
    thread_id: ours.threadId,
    turn_id: ours.callId,
    started_at: at,
    ended_at: at,
    attributes: {},
    inputs: val,
    output: objectRef(),
    summary: { usage: { [ours.model]: { prompt_tokens: 1, completion_tokens: 1 } } },
  }
  await client.call(`/v2/${project_id}/calls/complete`, { batch: [call] })
  await client.call('/feedback/create', { project_id, weave_ref: callRef(), feedback_type: bait, payload: { bait } })
  return digest
}

/** The answers of all reads for these ids in a project, at both mounts. */
async function readAll(client: TraceClient, project_id: string): Promise<[path: string, text: string][]> {
  const answers: [string, string][] = []
  for (const operation of reads) {
    const { method, path, body } = askOf(operation, { ...ours, project_id })
    for (const mounted of [path, `/traces${path}`]) {
      answers.push([mounted, await (await client.send(method, mounted, body)).text()])
    }
  }
  const body = { project_id, include_feedback: true, include_costs: true, expand_columns: ['inputs.model', 'output'] }
  for (const path of [
    '/calls/stream_query',
    '/objs/query',
    '/feedback/query',
    '/cost/query',
    '/threads/stream_query',
  ]) {
    answers.push([path, await client.text(path, body)])
  }
  return answers
}

const holding = (answers: [string, string][], text: string) => answers.filter(([, answer]) => answer.includes(text))

test('the owner finds the mark in every answer that contains it', async () => {
  const paths = holding(await readAll(team, ourProject), mark).map(([path]) => path)
  expect([...new Set(paths)].filter((path) => !path.startsWith('/traces'))).toEqual([
    '/calls/stream_query',
    '/calls/query',
    '/call/read',
    '/obj/read',
    '/objs/query',
    `/tags?project_id=${encodeURIComponent(ourProject)}`,
    `/aliases?project_id=${encodeURIComponent(ourProject)}`,
    '/table/query',
    '/table/query_stream',
    '/file/content',
    '/files/content',
    '/refs/read_batch',
    '/feedback/query',
  ])
  expect(holding(await readAll(team, ourProject), String(price)).length).toBeGreaterThan(0)
})

describe.each([
  ['another entity', 'others/project', () => others],
  ['another project of the entity', 'team/second', () => team],
])('%s', (_, project_id, clientOf) => {
  let digest: string
  beforeAll(async () => {
    digest = await lead(clientOf(), project_id)
  })

  test('finds no mark', async () => {
    const answers = await readAll(clientOf(), project_id)
    expect(answers.length).toBeGreaterThan(2 * 20)
    expect([...holding(answers, mark), ...holding(answers, String(price))]).toEqual([])
    expect(holding(answers, bait).length).toBeGreaterThan(5)
  })

  test('cannot read the project through a reference', async () => {
    const root = `weave:///${project_id}/object/${ours.objectName}:${digest}/attr`
    const refs = [`${root}/model/attr/mark`, `${root}/rows/id/${ours.rowDigest}`]
    expect(await clientOf().post('/refs/read_batch', { refs })).toEqual({ status: 200, body: { vals: [null, null] } })
  })

  test('sees no row of it in a table with the same digests, and cannot use it in a condition', async () => {
    const table = { project_id, digest: ours.tableDigest }
    expect(await clientOf().post('/table/query', table)).toEqual({ status: 200, body: { rows: [] } })
    const fields = ['inputs.model.mark', 'output.mark', `feedback.[type-${mark}].payload.mark`]
    for (const field of fields) {
      const query = { $expr: { $eq: [{ $getField: field }, { $literal: mark }] } }
      const asked = { project_id, query, expand_columns: ['inputs.model', 'output'] }
      expect([field, await clientOf().post('/calls/query_stats', asked)]).toMatchObject([field, { body: { count: 0 } }])
    }
  })

  test('cannot change it', async () => {
    const before = await readAll(team, ourProject)
    expect(holding(before, bait)).toEqual([])
    for (const operation of operations.filter((each) => !reads.includes(each) && each.body)) {
      const { method, path, body } = askOf(operation, { ...ours, project_id })
      await (await clientOf().send(method, path, body)).text()
    }
    expect(await readAll(team, ourProject)).toEqual(before)
  })
})
