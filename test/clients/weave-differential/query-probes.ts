import { convert, field, literal } from './expressions.ts'
import { count, equal, list, type Place, type Probe, see, start } from './probes.ts'

const sevens = { started_at: '2026-03-02T08:00:00Z' }

/** Probes of filters, conditions and orders. */
export const queryProbes = (place: Place): Probe[] => {
  const probed = (shows: string, inputs: object, condition: object, counts: [number, number]): Probe => ({
    shows,
    before: [start(place, shows.length + counts[0] * 100, { inputs: { ...inputs, probe: shows } })],
    request: count(place, { $and: [equal(field('inputs.probe'), shows), condition] }),
    see: see.count,
    ours: counts[0],
    reference: counts[1],
  })
  return [
    probed('literals beyond ASCII', { s: 'naïve' }, equal(field('inputs.s'), 'naïve'), [1, 0]),
    probed('literals that name a column', { s: 'op_name' }, equal(field('inputs.s'), 'op_name'), [1, 0]),
    probed('booleans as text', { flag: true }, equal(field('inputs.flag'), 'true'), [1, 0]),
    probed('text that is no number', { s: 'abc' }, equal(convert('inputs.s', 'int'), 0), [0, 1]),
    probed('the computed name in conditions', {}, equal(field('summary.weave.trace_name'), 'probe'), [1, 0]),
    probed('latency of calls that run', {}, { $gt: [literal(5), field('summary.weave.latency_ms')] }, [0, 1]),
    {
      shows: 'quotes in literals',
      request: count(place, equal(field('inputs.s'), 'a "word"')),
      see: see.status,
      ours: 200,
      reference: 500,
    },
    {
      shows: 'quotes in filters',
      request: list(place, { filter: { op_names: ["it's"] } }),
      see: see.status,
      ours: 200,
      reference: 500,
    },
    {
      shows: '$convert to exists',
      request: count(place, equal(convert('inputs.s', 'exists'), true)),
      see: see.status,
      ours: 200,
      reference: 400,
    },
    {
      shows: 'columns that are not there',
      request: count(place, equal(field('colour'), 'red')),
      see: see.status,
      ours: 403,
      reference: 500,
    },
    {
      shows: 'sorting by columns that are not there',
      request: list(place, { sort_by: [{ field: 'colour', direction: 'asc' }] }),
      see: see.status,
      ours: 403,
      reference: 500,
    },
    {
      shows: 'feedback in conditions',
      request: count(place, equal(field('feedback.[*].payload.n'), '1')),
      see: see.status,
      ours: 200,
      reference: 500,
    },
    {
      shows: 'versions of ops',
      before: [start(place, 701, { op_name: `weave:///${place.project}/op/amberine:d` })],
      request: list(place, { filter: { op_names: [`weave:///${place.project}/op/amber:*`] } }),
      see: see.ids,
      ours: [],
      reference: [place.id(701)],
    },
    {
      shows: 'references that begin another',
      before: [start(place, 702, { inputs: { ref: `weave:///${place.project}/object/o:digest` } })],
      request: list(place, { filter: { input_refs: [`weave:///${place.project}/object/o:dig`] } }),
      see: see.ids,
      ours: [],
      reference: [place.id(702)],
    },
    {
      shows: 'references beyond ASCII',
      before: [start(place, 712, { inputs: { ref: `weave:///${place.project}/object/ü:digest` } })],
      request: list(place, { filter: { input_refs: [`weave:///${place.project}/object/ü:digest`] } }),
      see: see.ids,
      ours: [place.id(712)],
      reference: [],
    },
    {
      shows: 'no threads at all',
      before: [start(place, 703, { thread_id: 't' })],
      request: list(place, { filter: { call_ids: [place.id(703)], thread_ids: [] } }),
      see: see.ids,
      ours: [],
      reference: [place.id(703)],
    },
    {
      shows: 'numbers as text in sorting',
      before: [
        start(place, 704, { trace_id: 'ns', inputs: { v: '10' } }),
        start(place, 705, { trace_id: 'ns', inputs: { v: '9' } }),
      ],
      request: list(place, { filter: { trace_ids: ['ns'] }, sort_by: [{ field: 'inputs.v', direction: 'asc' }] }),
      see: see.ids,
      ours: [place.id(705), place.id(704)],
      reference: [place.id(704), place.id(705)],
    },
    {
      shows: 'calls of the same time',
      before: [start(place, 707, { trace_id: 'ts', ...sevens }), start(place, 706, { trace_id: 'ts', ...sevens })],
      request: list(place, { filter: { trace_ids: ['ts'] } }),
      see: see.ids,
      ours: [place.id(706), place.id(707)],
      reference: [place.id(707), place.id(706)],
    },
    {
      shows: 'times of other zones',
      before: [
        start(place, 708, { trace_id: 'tz', started_at: '2026-03-02T10:00:00+02:00' }),
        start(place, 709, { trace_id: 'tz', started_at: '2026-03-02T09:00:00Z' }),
      ],
      request: list(place, { filter: { trace_ids: ['tz'] } }),
      see: see.ids,
      ours: [place.id(708), place.id(709)],
      reference: [place.id(709), place.id(708)],
    },
    {
      shows: 'a limit of nothing',
      before: [start(place, 710)],
      request: list(place, { filter: { call_ids: [place.id(710)] }, limit: 0 }),
      see: see.ids,
      ours: [],
      reference: [place.id(710)],
    },
    {
      shows: 'numbers as texts in members',
      request: list(place, { filter: { call_ids: ['x'] }, limit: '5' }),
      see: see.status,
      ours: 422,
      reference: 200,
    },
    {
      shows: 'sizes of calls',
      before: [start(place, 711, { inputs: { s: 'ö'.repeat(100) } })],
      request: list(place, { filter: { call_ids: [place.id(711)] }, include_storage_size: true }),
      see: ({ body }) =>
        (body as { storage_size_bytes: number }[])[0]!.storage_size_bytes > 300 ? 'escaped' : 'bytes',
      ours: 'bytes',
      reference: 'escaped',
    },
  ]
}
