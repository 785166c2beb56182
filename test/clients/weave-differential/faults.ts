import { field, literal } from './expressions.ts'
import { ask, type Step, type World } from './world.ts'

/** Requests that both servers must reject in the same way. */
export const faults: ((world: World) => Step)[] = [
  ({ random }) => ask('nothing at all', random.pick(routes), {}),
  ({ random }) => ask('a body that is a list', random.pick(routes), []),
  (world) => ask('members of wrong types', '/calls/stream_query', { project_id: world.project, ...wrongMember(world) }),
  (world) => ask('a start without its time', '/call/start', { start: { ...smallStart(world), started_at: undefined } }),
  (world) => ask('a time that is none', '/call/start', { start: { ...smallStart(world), started_at: 'yesterday' } }),
  (world) => ask('inputs that are no object', '/call/start', { start: { ...smallStart(world), inputs: [] } }),
  (world) => ask('an update of nothing', '/call/update', { project_id: world.project, call_id: 'x' }),
  wrongExpression,
  wrongName,
  (world) => ask('rows that are no objects', '/table/create', { table: { project_id: world.project, rows: [1] } }),
  tooMany,
  (world) => ask('a call that is not there', '/call/read', { project_id: world.project, id: world.random.uuid(1e12) }),
]

const routes = [
  '/call/start',
  '/call/end',
  '/call/upsert_batch',
  '/call/read',
  '/calls/stream_query',
  '/calls/query_stats',
]
  .concat(['/calls/delete', '/call/update', '/obj/create', '/obj/read', '/objs/query', '/obj/delete', '/table/create'])
  .concat(['/table/update', '/table/query', '/refs/read_batch', '/file/content', '/feedback/create', '/feedback/query'])
  .concat(['/feedback/purge', '/feedback/replace', '/threads/stream_query', '/cost/create', '/cost/purge'])

const smallStart = (world: World) => ({
  project_id: world.project,
  id: world.random.uuid(world.tick()),
  trace_id: world.random.uuid(world.tick()),
  op_name: 'never',
  started_at: '2026-03-02T08:00:00Z',
  attributes: {},
  inputs: {},
})

function wrongMember({ random }: World): object {
  return random.pick([
    { limit: 'many' },
    { filter: [] },
    { filter: { op_names: 'one' } },
    { sort_by: [{ field: 'id', direction: 'up' }] },
    { sort_by: [{ direction: 'asc' }] },
    { columns: 'inputs' },
    { query: {} },
    { query: { $expr: 1 } },
    { include_feedback: 'perhaps' },
  ])
}

function wrongExpression({ random, project }: World): Step {
  const $expr = random.pick([
    { $and: [] },
    { $or: [] },
    { $equals: [literal(1), literal(1)] },
    { $eq: [field('id')] },
    { $not: [] },
    { $contains: { input: field('id') } },
    { $eq: [{ $convert: { input: field('inputs.n'), to: 'date' } }, literal(1)] },
  ])
  return ask('an expression that is none', '/calls/query_stats', { project_id: project, query: { $expr } })
}

function wrongName({ random, project }: World): Step {
  const object_id = random.pick(['', 'a/b', 'a b', 'a:b', 'é'.repeat(128)])
  return ask('an object with such a name', '/obj/create', { obj: { project_id: project, object_id, val: { name: 1 } } })
}

function tooMany({ random, project }: World): Step {
  const many = Array.from({ length: 1001 }, (_, index) => `weave:///${project}/object/o${index}:d`)
  const requests = [
    { path: '/refs/read_batch', body: { refs: many } },
    { path: '/obj/delete', body: { project_id: project, object_id: 'obj-0', digests: many.slice(0, 101) } },
    { path: '/calls/query_stats', body: { project_id: project, filter: { call_ids: many } } },
    { path: '/calls/stream_query', body: { project_id: project, filter: { op_names: many } } },
  ]
  return { what: 'too many at once', requests: [random.pick(requests)] }
}
