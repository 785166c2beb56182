import { newId } from '../../apiserver/tracing/ids.ts'
import { json, list, padded, post, type Attack, type Target, type Written } from './attack.ts'
import { kib, mib, oddValues } from './bodies.ts'
import { listInferenceAttacks } from './inference-attacks.ts'

const reward = { $getField: 'feedback.[*].runnable_ref' }

/** Known attacks, each with its target. */
export function listKnownAttacks(target: Target): Attack[] {
  return [
    ...listQueries(target),
    ...listInferenceAttacks(target),
    ...listSpans(target),
    ...listWrites(target),
    ...listJobs(target),
  ]
}

/** Conditions on traces whose SQL is far longer than they are. */
function listQueries({ project }: Target): Attack[] {
  const query = ($expr: unknown) => json({ project_id: project, query: { $expr } })
  const nest = (levels: number, wrap: (inner: unknown) => unknown) => {
    let condition: unknown = { $eq: [reward, { $literal: 'x' }] }
    for (let level = 0; level < levels; level++) condition = wrap(condition)
    return query(condition)
  }
  const literal = (text: string) => ({ $eq: [{ $literal: text }, { $literal: text }] })
  return post('/traces/calls/stream_query', (bytes) => padded(bytes, (text) => query(literal(text))), [
    { name: 'equal nested 12 deep', body: () => nest(12, (inner) => ({ $eq: [inner, reward] })) },
    { name: 'equal nested 18 deep', body: () => nest(18, (inner) => ({ $eq: [inner, reward] })) },
    { name: 'equal nested 60 deep', body: () => nest(60, (inner) => ({ $eq: [inner, reward] })) },
    { name: 'less nested 16 deep', body: () => nest(16, (inner) => ({ $lt: [reward, inner] })) },
    { name: 'not nested 60 deep', body: () => nest(60, (inner) => ({ $not: [inner] })) },
    {
      name: '3,000 fields of several rows',
      body: () => query({ $or: list(3_000, () => ({ $eq: [reward, reward] })) }),
    },
    {
      name: '9,000 conditions over payloads',
      body: () => query({ $and: list(9_000, (at) => ({ $eq: [{ $getField: `inputs.a${at}` }, { $literal: 'x' }] })) }),
    },
    {
      name: '9,000 items in a list',
      body: () => query({ $in: [reward, list(9_000, (at) => ({ $literal: `x${at}` }))] }),
    },
    {
      name: '5,000 keys to sort by',
      body: () =>
        json({ project_id: project, sort_by: list(5_000, (at) => ({ field: `inputs.a${at}`, direction: 'asc' })) }),
    },
    {
      name: '20,000 columns',
      body: () =>
        json({
          project_id: project,
          columns: list(20_000, (at) => `inputs.a${at}`),
          expand_columns: list(5_000, (at) => `inputs.a${at}`),
        }),
    },
    {
      name: '500,000 ids',
      body: () => json({ project_id: project, filter: { call_ids: list(500_000, () => 'a'.repeat(36)) } }),
    },
  ])
}

/** OpenTelemetry spans that take more memory than their size suggests. */
function listSpans({ project }: Target): Attack[] {
  const span = (more: object) => ({
    traceId: newId().replaceAll('-', ''),
    spanId: 'eee19b7ec3c1b174',
    name: 'span',
    startTimeUnixNano: '1',
    endTimeUnixNano: '2',
    ...more,
  })
  const write = (more: object) => json({ resourceSpans: [{ scopeSpans: [{ spans: [span(more)] }] }] })
  const keys = (count: number, key: (at: number) => string) =>
    list(count, (at) => ({ key: key(at), value: { intValue: 1 } }))
  const spans: Written[] = [
    { name: 'keys of 100 parts', body: () => write({ attributes: keys(99_000, (at) => `${'a.'.repeat(99)}${at}`) }) },
    {
      name: 'keys that begin alike',
      body: () => write({ attributes: keys(99_000, (at) => `k${at}.${'b.'.repeat(50)}c`) }),
    },
    { name: 'a name of 30 MiB', body: () => write({ name: 'a '.repeat(15 * mib) }) },
    {
      name: 'a display name of 20 MiB',
      body: () => write({ attributes: [{ key: 'wandb.display_name', value: { stringValue: 'a '.repeat(10 * mib) } }] }),
    },
    {
      name: 'a million events',
      body: () => write({ events: list(400_000, () => ({ name: 'e', timeUnixNano: '1' })) }),
    },
  ]
  const harmless = (bytes: number) =>
    padded(bytes, (text) => write({ attributes: [{ key: 'text', value: { stringValue: text } }] }))
  return post(
    '/traces/otel/v1/traces',
    harmless,
    spans.map((attack) => ({ role: 'member', delivery: 'gzip', headers: { project_id: project }, ...attack })),
  )
}

/** Stored data that makes reads expensive. */
function listWrites({ project }: Target): Attack[] {
  const call = {
    project_id: project,
    op_name: 'op',
    started_at: '2026-11-21T10:00:00Z',
    ended_at: '2026-11-21T10:00:01Z',
  }
  const write = (members: string) => {
    const text = JSON.stringify({ ...call, id: newId(), trace_id: newId(), attributes: {} })
    return Buffer.from(`{"batch":[${text.slice(0, -1)},${members}}]}`)
  }
  const path = `/traces/v2/${project}/calls/complete`
  const odd = (kind: string) => oddValues[kind]!(30 * mib)
  const harmless = (bytes: number) => padded(bytes, (text) => write(`"inputs":"${text}","output":null,"summary":{}`))
  const summaries = post(path, harmless, [
    {
      name: 'a summary of 10 million objects',
      body: () => write(`"inputs":{},"output":null,"summary":{"weave":0,"x":${odd('many objects')}}`),
    },
    {
      name: 'inputs of 10 million lists',
      body: () => write(`"inputs":{"a":${odd('many lists')}},"output":null,"summary":{}`),
    },
  ]).map((attack): Attack => ({ ...attack, role: 'member' }))
  const read = (more: object) => json({ project_id: project, limit: 1, ...more })
  const reads = post('/traces/calls/stream_query', (bytes) => padded(bytes, (text) => read({ text })), [
    { name: 'the call of that summary', body: () => read({}) },
    { name: 'the same expanded', body: () => read({ expand_columns: ['inputs', 'output', 'summary', 'inputs.a'] }) },
    { name: 'the same with feedback and costs', body: () => read({ include_feedback: true, include_costs: true }) },
  ])
  return [...summaries, ...reads]
}

/** Bodies of jobs that take long to check, or much memory to train. */
function listJobs({ modelId }: Target): Attack[] {
  const job = (model: string, value: string) => {
    const choice = `{"messages_and_choices":[{"role":"user","content":"a"}],"reward":1,"metadata":{"x":${value}}}`
    return Buffer.from(`{"model_id":"${model}","trajectory_groups":[{"trajectories":[${choice}]}]}`)
  }
  const unknown = '00000000-0000-4000-8000-000000000000'
  const harmless = (bytes: number) => padded(bytes, (text) => job(unknown, `"${text}"`))
  return post('/v1/preview/training-jobs', harmless, [
    { name: 'a job of millions of lists', body: () => job(modelId, oddValues['many lists']!(24 * mib)) },
    { name: 'a job of a model that is not there', body: () => job(unknown, oddValues['words']!(48 * mib)) },
    { name: 'a job of deep values', body: () => job(modelId, oddValues['deep']!(256 * kib)) },
  ]).map((attack): Attack => ({ ...attack, role: 'member' }))
}
