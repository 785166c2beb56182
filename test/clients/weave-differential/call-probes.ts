import { end, list, makeStart, type Place, post, type Probe, read, see, start } from './probes.ts'

/** Probes of writing and deleting calls. */
export const callProbes = (place: Place): Probe[] => [
  {
    shows: 'repeated starts',
    before: [start(place, 1)],
    request: start(place, 1),
    see: see.status,
    ours: 200,
    reference: 500,
  },
  {
    shows: 'early ends',
    before: [end(place, 2, { output: 'kept' }), start(place, 2)],
    request: read(place, 2),
    see: see.member('call', 'output'),
    ours: 'kept',
    reference: undefined,
  },
  {
    shows: 'whole calls',
    request: post(`/v2/${place.project}/calls/complete`, {
      batch: [{ ...makeStart(place, 3), ended_at: '2026-03-02T08:00:10Z', output: 1, summary: {} }],
    }),
    see: see.status,
    ours: 200,
    reference: 404,
  },
  {
    shows: 'starts without ids',
    request: post('/call/start', { start: { ...makeStart(place, 4), id: null, trace_id: null } }),
    see: see.status,
    ours: 200,
    reference: 400,
  },
  {
    shows: 'deleting a call and its descendant',
    before: [start(place, 5), start(place, 6, { parent_id: place.id(5) })],
    request: post('/calls/delete', { project_id: place.project, call_ids: [place.id(5), place.id(6)] }),
    see: see.member('num_deleted'),
    ours: 2,
    reference: 3,
  },
  {
    shows: 'calls of other projects',
    before: [start(place, 7), end({ ...place, project: `${place.project}-other` }, 7)],
    request: read(place, 7),
    see: see.member('call', 'ended_at'),
    ours: undefined,
    reference: 1772438410000000,
  },
  {
    shows: 'display names of other projects',
    before: [
      start(place, 8),
      post('/call/update', { project_id: `${place.project}-other`, call_id: place.id(8), display_name: 'x' }),
    ],
    request: read(place, 8),
    see: see.member('call', 'display_name'),
    ours: undefined,
    reference: 'x',
  },
  {
    shows: 'unknown statuses',
    before: [start(place, 10)],
    request: end(place, 10, { summary: { status_counts: { skipped: 1 } } }),
    see: see.status,
    ours: 200,
    reference: 422,
  },
  {
    shows: 'unknown members',
    request: list(place, { latest_only: true, filter: { call_ids: [place.id(0)] } }),
    see: see.status,
    ours: 200,
    reference: 422,
  },
  {
    shows: 'NUL',
    before: [start(place, 11, { inputs: { s: 'a\0b' } })],
    request: read(place, 11),
    see: see.member('call', 'inputs', 's'),
    ours: 'a\ufffdb',
    reference: 'a\0b',
  },
  ...writeProbes(place),
]

/** Probes of the content of a start. */
const writeProbes = (place: Place): Probe[] => [
  {
    shows: 'empty ids',
    before: [start(place, 12, { parent_id: '' })],
    request: read(place, 12),
    see: see.member('call', 'parent_id'),
    ours: undefined,
    reference: '',
  },
  {
    shows: 'empty exceptions',
    before: [start(place, 13), end(place, 13, { exception: '' })],
    request: read(place, 13),
    see: see.member('call', 'summary', 'weave', 'status'),
    ours: 'error',
    reference: 'success',
  },
  {
    shows: 'object references as op names',
    before: [start(place, 14, { op_name: `weave:///${place.project}/object/NAME:d` })],
    request: read(place, 14),
    see: see.member('call', 'summary', 'weave', 'trace_name'),
    ours: `weave:///${place.project}/object/NAME:d`,
    reference: 'NAME',
  },
  {
    shows: 'unrequested spans',
    before: [start(place, 15, { otel_dump: { name: 'span' } })],
    request: list(place, { filter: { call_ids: [place.id(15)] }, columns: ['op_name'] }),
    see: see.member('0', 'attributes'),
    ours: {},
    reference: { otel_span: { name: 'span' } },
  },
  ...rejections(place),
  {
    shows: 'deleting missing calls',
    request: post('/calls/delete', { project_id: place.project, call_ids: [place.id(999)] }),
    see: see.member('num_deleted'),
    ours: 0,
    reference: 1,
  },
]

/** Requests that only one of the two servers rejects. */
function rejections(place: Place): Probe[] {
  const other = place.project.replace(/^[^/]+/, 'another')
  const readIn = (project: string) => read({ ...place, project }, 1)
  const wrongMode = { mode: 'end', req: { start: makeStart(place, 20) } }
  const refused: [string, Probe['request'], number, number][] = [
    ['times as seconds', start(place, 16, { started_at: 1772438400 }), 422, 200],
    ['internal references', start(place, 18, { inputs: { ref: 'weave-trace-internal:///x/object/o:d' } }), 200, 400],
    ['text that begins like a reference', start(place, 19, { inputs: { ref: 'weave:///nobody' } }), 200, 400],
    ['items of the wrong mode', post('/call/upsert_batch', { batch: [wrongMode] }), 422, 200],
    ['projects of other entities', readIn(other), 403, 200],
    ['projects without an entity', readIn('nobody'), 400, 200],
  ]
  return refused.map(([shows, request, ours, reference]) => ({ shows, request, see: see.status, ours, reference }))
}
