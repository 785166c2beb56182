import { queryOptions } from '@tanstack/react-query'
import type { Call, Feedback } from '../logic/calls.ts'
import type { CallsRequest } from '../logic/call-query.ts'
import { ApiError, callApi, sendTo } from './client.ts'
import { readCall } from './read-call.ts'

const streamAddress = '/traces/calls/stream_query'

/** What a list of calls asks for. Its members are those of the API. */
export interface CallsQuery extends CallsRequest {
  project_id: string
  columns: string[]
  sort_by: { field: string; direction: 'asc' | 'desc' }[]
  limit?: number
  offset?: number
  include_costs?: boolean
  include_feedback?: boolean
}

/** The request of a list of calls, as commands show it. */
export function shownCallsRequest(body: CallsQuery) {
  return { method: 'POST', address: streamAddress, body }
}

/** Reads calls while they arrive. Each line is parsed by itself, so that a long list does not stop the page. */
export async function readCalls(body: CallsQuery, signal: AbortSignal): Promise<Call[]> {
  const response = await sendTo('POST', streamAddress, body, signal)
  const calls: Call[] = []
  const decoder = new TextDecoder()
  const reader = response.body!.getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    const lines = (rest + (value ? decoder.decode(value, { stream: true }) : '')).split('\n')
    rest = lines.pop()!
    for (const line of lines) if (line !== '') calls.push(JSON.parse(line) as Call)
    if (done) break
  }
  if (rest !== '') calls.push(JSON.parse(rest) as Call)
  return calls
}

export const callsPageSize = 200

/** The beginning of the keys of all pages of a table. */
export const callsPagesKey = (body: CallsQuery) => ['calls', 'page', body] as const

/**
 * A page of a table of calls, from 0 on. Pages after the first leave out what began after that one was read, so that no row
 * appears twice or moves. A page that nobody looks at any more is given up, and forgotten soon.
 */
export function callsPageQuery(body: CallsQuery, index: number, newest?: string) {
  return queryOptions({
    queryKey: [...callsPagesKey(body), index, newest ?? null],
    staleTime: Infinity,
    gcTime: 30_000,
    queryFn: ({ signal }) =>
      readCalls({ ...readUntil(body, newest), limit: callsPageSize, offset: index * callsPageSize }, signal),
  })
}

/** When the newest of some calls began. */
export function newestOf(calls: readonly Call[]): string | undefined {
  return calls.reduce<string | undefined>(
    (newest, call) => (newest === undefined || call.started_at > newest ? call.started_at : newest),
    undefined,
  )
}

/** Leaves out what began later, if the newest calls are first. In other orders, a new call may be anywhere. */
export function readUntil(body: CallsQuery, newest: string | undefined): CallsQuery {
  const [key] = body.sort_by
  if (newest === undefined || key?.field !== 'started_at' || key.direction === 'asc') return body
  return { ...body, query: addCondition(body.query, { $lte: [{ $getField: 'started_at' }, { $literal: newest }] }) }
}

function addCondition(query: CallsRequest['query'], condition: unknown) {
  return { $expr: { $and: [...(query ? [query.$expr] : []), condition] } }
}

/** How many calls began since. */
export function newCallsQuery(projectId: string, request: CallsRequest, since: string | undefined) {
  return queryOptions({
    queryKey: ['calls', 'new', projectId, request, since],
    enabled: since !== undefined,
    queryFn: async ({ signal }) => {
      const begunLater = { $gt: [{ $getField: 'started_at' }, { $literal: since! }] }
      const query = addCondition(request.query, begunLater)
      const body = { project_id: projectId, filter: request.filter, query, limit: 1_000 }
      return (await callApi('POST /traces/calls/query_stats', { body, signal })).count
    },
  })
}

/** Counts by time and by what the table can be filtered by. */
export function callStatisticsQuery(project: string, body: CallsRequest & { from?: string; to?: string }) {
  const name = 'POST /v1/preview/projects/{project}/calls/statistics'
  return queryOptions({
    queryKey: [name, project, body],
    queryFn: ({ signal }) => callApi(name, { path: { project }, body: body as never, signal }),
  })
}

const payloads = ['attributes', 'inputs', 'output']

/** Some of the calls of a table with their payloads, which show what columns there can be. */
export function sampleQuery(body: CallsQuery) {
  const sample = { ...body, columns: [...body.columns, ...payloads], limit: 20 }
  return queryOptions({ queryKey: ['calls', 'sample', sample], queryFn: ({ signal }) => readCalls(sample, signal) })
}

/** The trace that a call belongs to. A call never changes its trace. */
export function traceIdQuery(projectId: string, id: string) {
  return queryOptions({
    queryKey: ['calls', 'trace of', projectId, id],
    staleTime: Infinity,
    queryFn: async ({ signal }) => {
      const columns = ['id', 'trace_id', 'op_name', 'started_at']
      const body = { project_id: projectId, filter: { call_ids: [id] }, columns, sort_by: [], limit: 1 }
      const [call] = await readCalls(body, signal)
      if (!call) throw new ApiError(404, 'No call of this project has this id, or it was removed.')
      return call.trace_id
    },
  })
}

export const maxSpans = 50_000

/** The request for the calls of a trace without their payloads. */
export function traceBody(projectId: string, traceId: string): CallsQuery {
  const own = ['id', 'trace_id', 'parent_id', 'op_name', 'display_name', 'thread_id', 'started_at', 'ended_at']
  const columns = [...own, 'exception', 'summary.usage']
  return { project_id: projectId, filter: { trace_ids: [traceId] }, columns, sort_by: [], limit: maxSpans }
}

/** The calls of a trace. While one of them runs, they are read again. */
export function traceQuery(projectId: string, traceId: string) {
  const body = traceBody(projectId, traceId)
  return queryOptions({
    queryKey: ['calls', 'trace', body],
    queryFn: ({ signal }) => readCalls(body, signal),
    refetchInterval: ({ state }) => (state.data?.some(({ ended_at: endedAt }) => !endedAt) ? 5_000 : false),
  })
}

/** The payloads of a call, cut to what a page can show. It is read again when the call has ended. */
export function wholeCallQuery(projectId: string, id: string, endedAt: string | null | undefined) {
  return queryOptions({
    queryKey: ['calls', 'whole', projectId, id, endedAt ?? null],
    queryFn: ({ signal }) => readCall({ project_id: projectId, id }, signal),
  })
}

const refOf = (projectId: string, callId: string) => `weave:///${projectId}/call/${callId}`

/** The feedback on a call, in the order of time. */
export function feedbackQuery(projectId: string, callId: string) {
  const ref = refOf(projectId, callId)
  return queryOptions({
    queryKey: ['calls', 'feedback', ref],
    queryFn: async ({ signal }): Promise<Feedback[]> => {
      const query = { $expr: { $eq: [{ $getField: 'weave_ref' }, { $literal: ref }] } }
      const sort_by = [{ field: 'created_at', direction: 'asc' as const }]
      const body = { project_id: projectId, query, sort_by, limit: 500 }
      const { result } = await callApi('POST /traces/feedback/query', { body, signal })
      return result as unknown as Feedback[]
    },
  })
}

/** Adds feedback to a call, as weave does. */
export async function giveFeedback(projectId: string, callId: string, given: { emoji: string } | { note: string }) {
  const feedback_type = 'emoji' in given ? 'wandb.reaction.1' : 'wandb.note.1'
  const body = { project_id: projectId, weave_ref: refOf(projectId, callId), feedback_type, payload: given }
  await callApi('POST /traces/feedback/create', { body })
}

export async function removeFeedback(projectId: string, id: string): Promise<void> {
  const query = { $expr: { $eq: [{ $getField: 'id' }, { $literal: id }] } }
  await callApi('POST /traces/feedback/purge', { body: { project_id: projectId, query } })
}

/** Copies a call into a data set of its project. */
export function copyCall(project: string, id: string, dataset: string) {
  const body = { dataset, call_ids: [id] }
  return callApi('POST /v1/preview/projects/{project}/calls/to-dataset', { path: { project }, body })
}
