import { newId } from '../../apiserver/tracing/ids.ts'
import { encodeOtlp } from './otlp.ts'
import { requestOf, spanOf } from './exporter.ts'

/** A write that a client repeats until it is acknowledged. A repetition changes nothing. */
export interface TraceWrite {
  path: string
  /** Makes the body. A form can only be sent once. */
  body: () => Buffer | string | FormData
  headers?: Record<string, string>
  /** What must be stored afterwards in the whole project, by key. */
  keeps: Partial<Record<Kept, [key: string, value: string][]>>
}

export type Kept = 'calls' | 'feedback' | 'objects' | 'tables' | 'files'

export const projectId = 'team/durable'

const at = (seconds: number) => new Date(Date.UTC(2026, 10, 21) + seconds * 1_000).toISOString()

// Large enough for the artifact store.
const large = 'x'.repeat(300_000)

/** Plans a round of writes of every kind. Each contains a mark. */
export function planWrites(mark: string): TraceWrite[] {
  return [
    planComplete(mark),
    ...planParts(mark),
    planSpans(mark),
    planFeedback(mark),
    planObject(mark),
    planTable(mark),
    planFile(mark),
  ]
}

function startOf(id: string, input: string) {
  return {
    project_id: projectId,
    id,
    trace_id: newId(),
    op_name: 'op',
    started_at: at(0),
    attributes: {},
    inputs: { input },
  }
}

function endOf(id: string, output: string) {
  return { project_id: projectId, id, ended_at: at(1), output, summary: {} }
}

const callValue = (input: string, output: string | null) => JSON.stringify({ input, output })

function planComplete(mark: string): TraceWrite {
  const ids = Array.from({ length: 20 }, newId)
  const inputOf = (index: number) => (index === 0 ? mark + large : `${mark} ${index}`)
  const batch = ids.map((id, index) => ({ ...startOf(id, inputOf(index)), ...endOf(id, mark) }))
  const calls = ids.map((id, index): [string, string] => [id, callValue(inputOf(index), mark)])
  return { path: `/v2/${projectId}/calls/complete`, body: () => JSON.stringify({ batch }), keeps: { calls } }
}

/** Starts and ends in two batches, the ends first. Each batch also has another start. */
function planParts(mark: string): TraceWrite[] {
  const ids = Array.from({ length: 5 }, newId)
  const lone = [newId(), newId()] as const
  const start = (id: string) => ({ mode: 'start', req: { start: startOf(id, mark) } })
  const ends = ids.map((id) => ({ mode: 'end', req: { end: endOf(id, mark) } }))
  const [path, headers] = ['/call/upsert_batch', {}]
  const first = JSON.stringify({ batch: [...ends, start(lone[0])] })
  const second = JSON.stringify({ batch: [start(lone[1]), ...ids.map(start)] })
  const pair = ids.map((id): [string, string] => [id, callValue(mark, mark)])
  const open = (id: string): [string, string] => [id, callValue(mark, null)]
  return [
    { path, headers, body: () => first, keeps: { calls: [open(lone[0])] } },
    { path, headers, body: () => second, keeps: { calls: [open(lone[1]), ...pair] } },
  ]
}

function planSpans(mark: string): TraceWrite {
  const attributes = ['input', 'output'].map((key) => ({ key, value: { stringValue: mark } }))
  const spans = Array.from({ length: 10 }, () => spanOf({ attributes }))
  const bytes = encodeOtlp(requestOf(...spans))
  const headers = { 'content-type': 'application/x-protobuf', project_id: projectId }
  const calls = spans.map(({ spanId }): [string, string] => [spanId!, callValue(mark, mark)])
  return { path: '/otel/v1/traces', headers, body: () => bytes, keeps: { calls } }
}

function planFeedback(mark: string): TraceWrite {
  const ids = Array.from({ length: 5 }, newId)
  const weave_ref = `weave:///${projectId}/call/${newId()}`
  const batch = ids.map((id) => ({ id, project_id: projectId, weave_ref, feedback_type: 'note', payload: { mark } }))
  const feedback = ids.map((id): [string, string] => [id, mark])
  return { path: '/feedback/batch/create', body: () => JSON.stringify({ batch }), keeps: { feedback } }
}

function planObject(mark: string): TraceWrite {
  const obj = { project_id: projectId, object_id: mark, val: { mark } }
  return { path: '/obj/create', body: () => JSON.stringify({ obj }), keeps: { objects: [[mark, mark]] } }
}

function planTable(mark: string): TraceWrite {
  const rows = Array.from({ length: 50 }, (_, index) => ({ mark, index }))
  const table = { project_id: projectId, rows }
  return {
    path: '/table/create',
    body: () => JSON.stringify({ table }),
    keeps: { tables: [[mark, JSON.stringify(rows)]] },
  }
}

function planFile(mark: string): TraceWrite {
  const body = () => {
    const form = new FormData()
    form.append('project_id', projectId)
    form.append('file', new Blob([mark + large]))
    return form
  }
  return { path: '/file/create', body, keeps: { files: [[mark, mark + large]] } }
}
