import { beforeAll, expect, test } from 'vitest'
import { newId } from '../../apiserver/tracing/ids.ts'
import { addKey, useApiServer } from '../support/api-server.ts'
import { resourceOf, spanOf } from '../support/exporter.ts'
import { makeTraces, type Traces } from '../support/own-traces.ts'
import { createTraceClient, type TraceClient } from '../support/trace-client.ts'

// Another entity's project is named in other places than the body's project_id.

const own = useApiServer({ LOG_LEVEL: 'error' })
const project = 'team/project'
const mine = 'others/mine'
const reason = expect.stringMatching(/does not belong to the entity/) as string
let team: TraceClient
let others: TraceClient
let otherKey: string
let objects: Record<'team' | 'others', Traces>

beforeAll(async () => {
  otherKey = await addKey(own.database.pool, 'others')
  team = createTraceClient(own.server.url, await addKey(own.database.pool, 'team'))
  others = createTraceClient(own.server.url, otherKey)
  objects = {
    team: await makeTraces(team, project, 'ours'),
    others: await makeTraces(others, 'others/project', 'theirs'),
  }
})

const objectOf = (entity: 'team' | 'others') =>
  `weave:///${entity}/project/object/${objects[entity].objectName}:${objects[entity].objectDigest}`
const exportOf = (...entities: string[]) => ({
  resourceSpans: entities.map((entity) => resourceOf(entity, entity === 'team' ? 'project' : 'mine', spanOf())),
})
const startOf = (project_id: string) => {
  const id = newId()
  return { project_id, id, trace_id: id, op_name: 'op', started_at: '2026-11-21T10:00:00Z', attributes: {}, inputs: {} }
}
const itemOf = (project_id: string) => ({ mode: 'start', req: { start: startOf(project_id) } })
const feedbackOf = (project_id: string) => ({
  project_id,
  weave_ref: 'weave:///others/mine/call/a',
  feedback_type: 'x',
  payload: {},
})

test.each<[string, string, () => object]>([
  ['in a reference', '/refs/read_batch', () => ({ refs: [objectOf('team')] })],
  ['in one of the references', '/refs/read_batch', () => ({ refs: [objectOf('others'), objectOf('team')] })],
  ['in the resource of an export', '/otel/v1/traces', () => exportOf('team')],
  ['in one of the resources of an export', '/otel/v1/traces', () => exportOf('others', 'team')],
  ['in one item of a batch of calls', '/call/upsert_batch', () => ({ batch: [itemOf(mine), itemOf(project)] })],
  [
    'in one item of a batch of feedback',
    '/feedback/batch/create',
    () => ({ batch: [feedbackOf(mine), feedbackOf(project)] }),
  ],
])('%s another project is rejected', async (_, path, bodyOf) => {
  expect(await others.post(path, bodyOf())).toEqual({ status: 403, body: { reason } })
})

test('in the header of an export another project is rejected', async () => {
  const response = await fetch(`${own.server.url}/otel/v1/traces`, {
    method: 'POST',
    headers: { 'wandb-api-key': otherKey, 'content-type': 'application/json', project_id: project },
    body: JSON.stringify(exportOf('others')),
  })
  expect([response.status, await response.json()]).toEqual([403, { reason }])
})

test('in a prompt another project is rejected', async () => {
  // The model is looked up before the project.
  await own.database.pool.query(
    `INSERT INTO training.base_models (name, names, namespace, cr_name) VALUES ('m', ARRAY['m'], 'trainyard', 'm')`,
  )
  const inputs = { model: 'm', messages: [], prompt: objectOf('team') }
  const { body } = await others.post('/completions/create', { project_id: mine, inputs, track_llm_call: false })
  expect(body).toEqual({ response: { error: reason }, weave_call_id: null })
})

test('in an annotation another project is rejected as one that does not match', async () => {
  const feedback_type = `wandb.annotation.${objects.team.objectName}`
  const annotation = { feedback_type, payload: { value: 1 }, annotation_ref: objectOf('team') }
  expect(await others.post('/feedback/create', { ...feedbackOf(mine), ...annotation })).toEqual({
    status: 400,
    body: { reason: 'annotation_ref must be of the project others/mine' },
  })
})

test('these requests stored nothing', async () => {
  expect((await others.post('/calls/query_stats', { project_id: mine })).body).toMatchObject({ count: 0 })
  expect((await others.post('/feedback/query', { project_id: mine })).body).toEqual({ result: [] })
})

test('the project in the path counts, not the one in the body', async () => {
  const call = { ...startOf(project), ended_at: '2026-11-21T10:00:01Z', output: 1, summary: {} }
  const body = { batch: [call] }
  expect(await others.post(`/v2/${project}/calls/complete`, body)).toEqual({ status: 403, body: { reason } })
  expect(await others.post(`/v2/${mine}/calls/complete`, body)).toEqual({ status: 200, body: {} })
  expect((await team.post('/call/read', { project_id: project, id: call.id })).body).toEqual({ call: null })
  const stored = await others.post('/call/read', { project_id: mine, id: call.id })
  expect(stored.body).toMatchObject({ call: { id: call.id, project_id: mine } })
})
