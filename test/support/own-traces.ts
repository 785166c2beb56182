import { newId } from '../../apiserver/tracing/ids.ts'
import { makeValue, type TraceOperation } from './trace-operations.ts'
import type { TraceClient } from './trace-client.ts'

/** The names of one resource of every kind in a project. */
export interface Traces {
  project_id: string
  callId: string
  objectName: string
  objectDigest: string
  tableDigest: string
  rowDigest: string
  fileDigest: string
  feedbackId: string
  costId: string
  threadId: string
  model: string
}

/** The same names for things that do not exist. */
export const unknownTraces = (project_id: string): Traces => ({
  project_id,
  callId: newId(),
  objectName: `unknown-${newId()}`,
  objectDigest: 'u'.repeat(43),
  tableDigest: 'a'.repeat(64),
  rowDigest: 'w'.repeat(43),
  fileDigest: 'f'.repeat(43),
  feedbackId: newId(),
  costId: newId(),
  threadId: newId(),
  model: 'unknown',
})

const at = (second: number) => `2026-11-21T10:00:0${second}Z`

/** A price that occurs nowhere else. */
export const price = 0.123456789

/**
 * Stores one resource of every kind. Every text of the client contains `mark`, except for the names that requests use.
 * Those contain `name`.
 */
export async function makeTraces(client: TraceClient, project_id: string, mark: string, name = mark): Promise<Traces> {
  const [callId, threadId, objectName] = [newId(), `thread-${name}`, `object-${name}`]
  const file = await client.call<{ digest: string }>('/file/create', formOf(project_id, mark))
  const table = { project_id, rows: [{ mark }] }
  const { digest: tableDigest, row_digests } = await client.call<{ digest: string; row_digests: string[] }>(
    '/table/create',
    { table },
  )
  const val = { mark, rows: `weave:///${project_id}/table/${tableDigest}` }
  const object = await client.call<{ digest: string }>('/obj/create', {
    obj: { project_id, object_id: objectName, val },
  })
  const model = `weave:///${project_id}/object/${objectName}:${object.digest}`
  const call = {
    project_id,
    id: callId,
    trace_id: newId(),
    op_name: `op-${mark}`,
    display_name: mark,
    thread_id: threadId,
    turn_id: callId,
    attributes: { mark },
    inputs: { mark, model },
    output: { mark },
    summary: { mark, usage: { [name]: { prompt_tokens: 1, completion_tokens: 1 } } },
    exception: mark,
    started_at: at(0),
    ended_at: at(1),
  }
  await client.call(`/v2/${project_id}/calls/complete`, { batch: [call] })
  const feedback = await client.call<{ id: string }>('/feedback/create', {
    project_id,
    weave_ref: `weave:///${project_id}/call/${callId}`,
    feedback_type: `type-${mark}`,
    payload: { mark },
  })
  const costs = { [name]: { prompt_token_cost: price, completion_token_cost: price } }
  const { ids } = await client.call<{ ids: [string, string][] }>('/cost/create', { project_id, costs })
  const path = `/objs/${objectName}`
  await client.put(`${path}/versions/${object.digest}/tags`, { project_id, tags: [`tag-${mark}`] })
  await client.put(`${path}/aliases`, { project_id, digest: object.digest, aliases: [`alias-${mark}`] })
  return {
    project_id,
    callId,
    objectName,
    objectDigest: object.digest,
    tableDigest,
    rowDigest: row_digests[0]!,
    fileDigest: file.digest,
    feedbackId: feedback.id,
    costId: ids[0]![0],
    threadId,
    model: name,
  }
}

export function formOf(project_id: string, content: string): FormData {
  const form = new FormData()
  form.append('project_id', project_id)
  form.append('file', new Blob([content]))
  return form
}

/** The parts of a valid request to an operation on these names. */
export interface Asked {
  method: string
  path: string
  body?: unknown
  headers?: Record<string, string>
}

/** Fills the path, the query and the body of an operation. `more` has values of the body's members by name. */
export function askOf(operation: TraceOperation, traces: Traces, more: Record<string, unknown> = {}): Asked {
  const [entity, project] = traces.project_id.split('/')
  const values = { ...valuesOf(operation.path, traces), ...more }
  const parameters: Record<string, unknown> = { ...values, entity, project }
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(parameters[name])),
  )
  const query = new URLSearchParams(
    operation.queryNames.map((name): [string, string] => [name, String(parameters[name])]),
  )
  const asked = { method: operation.method, path: query.size > 0 ? `${path}?${query.toString()}` : path }
  if (operation.body) return { ...asked, body: makeValue(operation.body, values) }
  if (operation.mediaTypes.includes('multipart/form-data')) return { ...asked, body: formOf(traces.project_id, 'x') }
  if (operation.mediaTypes.length === 0) return asked
  return { ...asked, body: { resourceSpans: [spans(operation.path)] }, headers: { project_id: traces.project_id } }
}

const spans = (name: string) => ({
  scopeSpans: [
    {
      spans: [{ traceId: '5b8efff798038103d269b633813fc60c', spanId: 'eee19b7ec3c1b174', name, endTimeUnixNano: '1' }],
    },
  ],
})

/** Members of bodies by name. Their meaning differs between resources. */
function valuesOf(path: string, traces: Traces): Record<string, unknown> {
  const { project_id, callId, objectName, objectDigest, tableDigest, fileDigest, rowDigest } = traces
  const callRef = `weave:///${project_id}/call/${callId}`
  const objectRef = `weave:///${project_id}/object/${objectName}:${objectDigest}`
  const ids = { '/feedback': traces.feedbackId, '/cost': traces.costId }
  const removedId = Object.entries(ids).find(([prefix]) => path.startsWith(prefix))?.[1]
  const isRemoval = path.endsWith('/purge')
  const digests = { '/table': tableDigest, '/file': fileDigest }
  return {
    project_id,
    project_ids: [project_id],
    name: traces.model,
    id: path.startsWith('/feedback') ? newId() : callId,
    call_id: callId,
    call_ids: [callId],
    trace_id: callId,
    feedback_id: traces.feedbackId,
    object_id: objectName,
    digest: Object.entries(digests).find(([prefix]) => path.startsWith(prefix))?.[1] ?? objectDigest,
    base_digest: tableDigest,
    row_digests: [rowDigest],
    ...(path.startsWith('/table') && { digests: [tableDigest] }),
    rows: [{ a: 1 }],
    val: { a: 1 },
    updates: [{ append: { row: { b: 2 } } }],
    refs: [objectRef, `${objectRef}/attr/rows/id/${rowDigest}`],
    weave_ref: callRef,
    feedback_type: 'custom',
    payload: { a: 1 },
    $expr: isRemoval
      ? { $eq: [{ $getField: 'id' }, { $literal: removedId }] }
      : { $eq: [{ $literal: '1' }, { $literal: '1' }] },
    ...(path === '/calls/query_stats' || path.startsWith('/calls/') ? { filter: { call_ids: [callId] } } : {}),
    ...(path.startsWith('/objs/query') && { filter: { object_ids: [objectName] } }),
    ...(path.startsWith('/threads') && { filter: { thread_ids: [traces.threadId] } }),
    ...(path.startsWith('/completions') && { inputs: { model: 'unknown', messages: [] }, track_llm_call: false }),
    display_name: 'renamed',
    tags: ['one'],
    aliases: ['one'],
    include_costs: true,
    include_feedback: true,
    include_total_storage_size: true,
    include_tags_and_aliases: true,
    expand_columns: ['inputs.model', 'inputs.model.rows'],
  }
}
