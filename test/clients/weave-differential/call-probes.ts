import { end, list, makeStart, type Scope, post, type Probe, read, see, start } from './probes.ts'

/** Probes of writing and deleting calls. */
export const callProbes = (scope: Scope): Probe[] => [
  {
    shows: 'repeated starts',
    before: [start(scope, 1)],
    request: start(scope, 1),
    see: see.status,
    ours: 200,
    reference: 500,
  },
  {
    shows: 'early ends',
    before: [end(scope, 2, { output: 'kept' }), start(scope, 2)],
    request: read(scope, 2),
    see: see.member('call', 'output'),
    ours: 'kept',
    reference: undefined,
  },
  {
    shows: 'whole calls',
    request: post(`/v2/${scope.project}/calls/complete`, {
      batch: [{ ...makeStart(scope, 3), ended_at: '2026-03-02T08:00:10Z', output: 1, summary: {} }],
    }),
    see: see.status,
    ours: 200,
    reference: 404,
  },
  {
    shows: 'starts without ids',
    request: post('/call/start', { start: { ...makeStart(scope, 4), id: null, trace_id: null } }),
    see: see.status,
    ours: 200,
    reference: 400,
  },
  {
    shows: 'deleting a call and its descendant',
    before: [start(scope, 5), start(scope, 6, { parent_id: scope.id(5) })],
    request: post('/calls/delete', { project_id: scope.project, call_ids: [scope.id(5), scope.id(6)] }),
    see: see.member('num_deleted'),
    ours: 2,
    reference: 3,
  },
  {
    shows: 'calls of other projects',
    before: [start(scope, 7), end({ ...scope, project: `${scope.project}-other` }, 7)],
    request: read(scope, 7),
    see: see.member('call', 'ended_at'),
    ours: undefined,
    reference: 1772438410000000,
  },
  {
    shows: 'display names of other projects',
    before: [
      start(scope, 8),
      post('/call/update', { project_id: `${scope.project}-other`, call_id: scope.id(8), display_name: 'x' }),
    ],
    request: read(scope, 8),
    see: see.member('call', 'display_name'),
    ours: undefined,
    reference: 'x',
  },
  {
    shows: 'unknown statuses',
    before: [start(scope, 10)],
    request: end(scope, 10, { summary: { status_counts: { skipped: 1 } } }),
    see: see.status,
    ours: 200,
    reference: 422,
  },
  {
    shows: 'unknown members',
    request: list(scope, { latest_only: true, filter: { call_ids: [scope.id(0)] } }),
    see: see.status,
    ours: 200,
    reference: 422,
  },
  {
    shows: 'NUL',
    before: [start(scope, 11, { inputs: { s: 'a\0b' } })],
    request: read(scope, 11),
    see: see.member('call', 'inputs', 's'),
    ours: 'a\ufffdb',
    reference: 'a\0b',
  },
  ...writeProbes(scope),
]

/** Probes of the content of a start. */
const writeProbes = (scope: Scope): Probe[] => [
  {
    shows: 'empty ids',
    before: [start(scope, 12, { parent_id: '' })],
    request: read(scope, 12),
    see: see.member('call', 'parent_id'),
    ours: undefined,
    reference: '',
  },
  {
    shows: 'empty exceptions',
    before: [start(scope, 13), end(scope, 13, { exception: '' })],
    request: read(scope, 13),
    see: see.member('call', 'summary', 'weave', 'status'),
    ours: 'error',
    reference: 'success',
  },
  {
    shows: 'object references as op names',
    before: [start(scope, 14, { op_name: `weave:///${scope.project}/object/NAME:d` })],
    request: read(scope, 14),
    see: see.member('call', 'summary', 'weave', 'trace_name'),
    ours: `weave:///${scope.project}/object/NAME:d`,
    reference: 'NAME',
  },
  {
    shows: 'unrequested spans',
    before: [start(scope, 15, { otel_dump: { name: 'span' } })],
    request: list(scope, { filter: { call_ids: [scope.id(15)] }, columns: ['op_name'] }),
    see: see.member('0', 'attributes'),
    ours: {},
    reference: { otel_span: { name: 'span' } },
  },
  ...rejections(scope),
  {
    shows: 'deleting missing calls',
    request: post('/calls/delete', { project_id: scope.project, call_ids: [scope.id(999)] }),
    see: see.member('num_deleted'),
    ours: 0,
    reference: 1,
  },
]

/** Requests that only one of the two servers rejects. */
function rejections(scope: Scope): Probe[] {
  const other = scope.project.replace(/^[^/]+/, 'another')
  const readIn = (project: string) => read({ ...scope, project }, 1)
  const wrongMode = { mode: 'end', req: { start: makeStart(scope, 20) } }
  const refused: [string, Probe['request'], number, number][] = [
    ['times as seconds', start(scope, 16, { started_at: 1772438400 }), 422, 200],
    ['internal references', start(scope, 18, { inputs: { ref: 'weave-trace-internal:///x/object/o:d' } }), 200, 400],
    ['text that begins like a reference', start(scope, 19, { inputs: { ref: 'weave:///nobody' } }), 200, 400],
    ['items of the wrong mode', post('/call/upsert_batch', { batch: [wrongMode] }), 422, 200],
    ['projects of other entities', readIn(other), 403, 200],
    ['projects without an entity', readIn('nobody'), 400, 200],
  ]
  return refused.map(([shows, request, ours, reference]) => ({ shows, request, see: see.status, ours, reference }))
}
