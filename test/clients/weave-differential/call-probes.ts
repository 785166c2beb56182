import { end, list, makeStart, type Place, post, type Probe, read, see, start } from './probes.ts'

/** Probes of how calls are written and deleted. */
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
    shows: 'deleting what is below each other',
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
    shows: 'new names of other projects',
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
    shows: 'counts of other statuses',
    before: [start(place, 10)],
    request: end(place, 10, { summary: { status_counts: { skipped: 1 } } }),
    see: see.status,
    ours: 200,
    reference: 422,
  },
  {
    shows: 'members that nobody knows',
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
]
