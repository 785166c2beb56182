import { makeCondition } from './expressions.ts'
import { refOf } from './values.ts'
import { ask, type Step, threadIds, type World, words } from './world.ts'

/** Steps that read calls. */
export const callReads: ((world: World) => Step)[] = [
  (world) => ask('read', '/call/read', { project_id: world.project, id: world.random.pick(world.calls).id }),
  list,
  list,
  list,
  (world) => ask('calls in one answer', '/calls/query', makeQuery(world)),
  page,
  columns,
  (world) => ask('calls with feedback', '/calls/stream_query', { ...makeQuery(world), include_feedback: true }),
  expand,
  stats,
  stats,
  unsorted,
  sortByMaybe,
]

function list(world: World): Step {
  return ask('calls', '/calls/stream_query', { ...makeQuery(world), ...makeSort(world) })
}

function page(world: World): Step {
  const { random } = world
  const window = {
    ...(random.chance(0.8) && { limit: 1 + random.int(10) }),
    ...(random.chance(0.8) && { offset: random.int(12) }),
  }
  return ask('a page of calls', '/calls/stream_query', { ...makeQuery(world), ...makeSort(world), ...window })
}

const columnNames = [
  'inputs.s',
  'inputs',
  'output.score',
  'attributes',
  'display_name',
  'parent_id',
  'ended_at',
  'exception',
]

function columns(world: World): Step {
  const names = world.random.some([...columnNames, 'wb_run_id', 'thread_id', 'summary'], 5)
  const asked = world.random.chance(0.1) ? [] : names
  return ask('columns of calls', '/calls/stream_query', { ...makeQuery(world), columns: asked })
}

/** Replaces references in inputs and output by their values. */
function expand(world: World): Step {
  const expand_columns = world.random.some(['inputs.model', 'output.model', 'inputs.model.next', 'inputs.s'], 3)
  return ask('calls with references followed', '/calls/stream_query', { project_id: world.project, expand_columns })
}

function stats(world: World): Step {
  const { random } = world
  const limit = random.chance(0.3) ? { limit: 1 + random.int(10) } : {}
  return ask('a count of calls', '/calls/query_stats', { ...makeQuery(world), ...limit })
}

function unsorted(world: World): Step {
  return ask('unsorted calls', '/calls/stream_query', { ...makeQuery(world), sort_by: [] })
}

function sortByMaybe(world: World): Step {
  const sort_by = [
    { field: 'inputs.maybe', direction: world.random.pick(['asc', 'desc']) },
    { field: 'id', direction: 'asc' },
  ]
  return ask('calls sorted by what some lack', '/calls/stream_query', { project_id: world.project, sort_by })
}

const sortFields = ['started_at', 'op_name', 'inputs.n', 'inputs.s', 'inputs.x', 'inputs.list.0', 'attributes.env']

function makeSort({ random }: World) {
  if (random.chance(0.4)) return {}
  const names = random.some([...sortFields, 'summary.weave.status', 'summary.weave.trace_name'], 2)
  const asked = names.map((name) => ({ field: name, direction: random.pick(['asc', 'desc']) }))
  return { sort_by: [...asked, { field: 'id', direction: random.pick(['asc', 'desc']) }] }
}

function makeQuery(world: World) {
  const { random, project } = world
  return {
    project_id: project,
    ...(random.chance(0.4) && { filter: makeFilter(world) }),
    ...(random.chance(0.5) && { query: { $expr: makeCondition(world) } }),
  }
}

function makeFilter(world: World) {
  const { random, calls, project } = world
  const some = random.some(calls, 6)
  const parts: Record<string, () => unknown> = {
    op_names: () => [random.pick(words), ...random.some(words, 3).map((word) => `weave:///${project}/op/${word}:*`)],
    input_refs: () => [refOf(world)],
    output_refs: () => [refOf(world)],
    parent_ids: () => some.map(({ id }) => id),
    trace_ids: () => some.map(({ traceId }) => traceId),
    call_ids: () => some.map(({ id }) => id),
    thread_ids: () => random.some([...threadIds, 'none'], 3),
    turn_ids: () => some.map(({ id }) => id),
    trace_roots_only: () => random.pick([true, false]),
    wb_user_ids: () => [random.pick(['<user>', 'nobody'])],
    wb_run_ids: () => [`${project}/run-${random.int(3)}`],
  }
  const names = random.some(Object.keys(parts), 2)
  return Object.fromEntries(names.map((name) => [name, random.chance(0.05) ? null : parts[name]!()]))
}
