import type { Request } from './request.ts'
import { makeInputs, makeOutput, makeSummary } from './values.ts'
import { ask, type KnownCall, type Step, threadIds, type World, words } from './world.ts'

const isoTime = (ms: number) => new Date(ms).toISOString()

/** Steps that write calls: alone and in batches, in both orders, repeated, changed and deleted. */
export const callWrites: ((world: World) => Step)[] = [
  (world) => ask('start', '/call/start', { start: makeStart(world, addCall(world)) }),
  (world) => ask('end', '/call/end', { end: makeEnd(world, runningCall(world)) }),
  (world) => ask('repeated end', '/call/end', { end: makeEnd(world, world.random.pick(world.calls)) }),
  batch,
  batch,
  complete,
  endFirst,
  startTwice,
  (world) => ask('end without a start', '/call/end', { end: makeEnd(world, strangerOf(world)) }),
  update,
  update,
  remove,
  removeTwo,
]

/** Starts a call in a new trace, or below an existing call. */
export function addCall(world: World): KnownCall {
  const { random, project } = world
  const startedMs = world.tick()
  const parent = world.calls.length > 0 && random.chance(0.6) ? random.pick(world.calls) : undefined
  const id = random.uuid(startedMs)
  const call: KnownCall = {
    id,
    traceId: parent?.traceId ?? random.uuid(startedMs),
    parentId: parent?.id ?? null,
    startedMs,
    opName: random.chance(0.7) ? `weave:///${project}/op/${random.pick(words)}:${'d'.repeat(43)}` : random.pick(words),
    threadId: random.chance(0.4) ? random.pick(threadIds) : null,
    wbRunId: random.chance(0.3) ? `${project}/run-${random.int(3)}` : null,
    ended: false,
  }
  world.calls.push(call)
  return call
}

export function makeStart(world: World, call: KnownCall) {
  const { random } = world
  const turnId = call.threadId && random.chance(0.7) ? call.id : null
  return {
    project_id: world.project,
    id: call.id,
    trace_id: call.traceId,
    parent_id: call.parentId,
    op_name: call.opName,
    started_at: isoTime(call.startedMs),
    attributes: { env: random.pick(['prod', 'dev']), weave: { client_version: '0.52.20' } },
    inputs: makeInputs(world),
    thread_id: call.threadId,
    turn_id: turnId,
    wb_run_id: call.wbRunId,
    ...(call.wbRunId && { wb_run_step: random.int(100) }),
    ...(random.chance(0.2) && { display_name: random.pick(['', 'Named', 'другое имя']) }),
  }
}

export function makeEnd(world: World, call: KnownCall) {
  const { random } = world
  call.ended = true
  // The clocks of clients differ, so some calls end before they start.
  const endedMs = call.startedMs + random.int(9000) * (random.chance(0.05) ? -1 : 1)
  return {
    project_id: world.project,
    id: call.id,
    ended_at: isoTime(endedMs).replace('Z', random.pick(['Z', '789Z', '+00:00'])),
    output: makeOutput(world),
    summary: makeSummary(world),
    ...(random.chance(0.2) && { exception: `Error: ${random.pick(words)}` }),
    ...(call.wbRunId && { wb_run_step_end: random.int(100) }),
  }
}

const strangerOf = (world: World): KnownCall => ({ ...addCall({ ...world, calls: [] }) })

function runningCall(world: World): KnownCall {
  return world.calls.find(({ ended }) => !ended) ?? world.random.pick(world.calls)
}

const start = (world: World, call: KnownCall) => ({ mode: 'start', req: { start: makeStart(world, call) } })
const end = (world: World, call: KnownCall) => ({ mode: 'end', req: { end: makeEnd(world, call) } })
const batchOf = (items: unknown[]): Request => ({ path: '/call/upsert_batch', body: { batch: items } })

/** Writes starts of several calls, most with their ends. */
function batch(world: World): Step {
  const calls = Array.from({ length: 1 + world.random.int(5) }, () => addCall(world))
  const starts = calls.map((call) => start(world, call))
  const ends = calls.filter(() => world.random.chance(0.7)).map((call) => end(world, call))
  return { what: 'batch of starts and ends', requests: [batchOf([...starts, ...ends])] }
}

/** Writes whole calls. The reference only has starts and ends. */
function complete(world: World): Step {
  const calls = Array.from({ length: 1 + world.random.int(3) }, () => addCall(world))
  const parts = calls.map((call) => ({ started: start(world, call), ended: end(world, call) }))
  const wholes = parts.map(({ started, ended }) => ({ ...started.req.start, ...ended.req.end }))
  const [entity, name] = world.project.split('/')
  return {
    what: 'whole calls',
    requests: [{ path: `/v2/${entity}/${name}/calls/complete`, body: { batch: wholes } }, countCalls(world)],
    instead: [batchOf(parts.flatMap(({ started, ended }) => [started, ended])), countCalls(world)],
  }
}

/** Writes an end before its start, in its own request or in the same one. */
function endFirst(world: World): Step {
  const call = addCall(world)
  const [started, ended] = [start(world, call), end(world, call)]
  const together = world.random.chance(0.5)
  return {
    what: 'an end before its start',
    requests: [
      ...(together ? [batchOf([ended, started])] : [batchOf([ended]), batchOf([started])]),
      readCall(world, call),
    ],
    instead: [batchOf([started, ended]), readCall(world, call)],
  }
}

/** Writes a start twice, as clients do when an answer is lost. The last one counts. */
function startTwice(world: World): Step {
  const call = addCall(world)
  const [first, second] = [start(world, call), start(world, call)]
  const again = world.random.chance(0.5) ? first : second
  return {
    what: 'a repeated start',
    requests: [batchOf([first]), batchOf([again]), readCall(world, call)],
    instead: [batchOf([again]), readCall(world, call)],
  }
}

export const readCall = (world: World, { id }: KnownCall): Request => ({
  path: '/call/read',
  body: { project_id: world.project, id },
})

const countCalls = (world: World): Request => ({ path: '/calls/query_stats', body: { project_id: world.project } })

function update(world: World): Step {
  const { random, project } = world
  const { id } = random.pick(world.calls)
  const display_name = random.pick(['', 'Renamed', 'renamed again', 'ß'])
  return ask('a new name', '/call/update', { project_id: project, call_id: id, display_name })
}

/** Deletes a call and its descendants. */
function remove(world: World): Step {
  const { id } = world.random.pick(world.calls)
  forget(world, id)
  return ask('deleting a call', '/calls/delete', { project_id: world.project, call_ids: [id] })
}

function forget(world: World, id: string): void {
  const gone = world.calls.find((call) => call.id === id)
  if (gone?.threadId) world.brokenThreads.add(gone.threadId)
  world.calls = world.calls.filter((call) => call !== gone)
  for (const child of world.calls.filter(({ parentId }) => parentId === id)) forget(world, child.id)
}

/** Deletes two calls. One may be a descendant of the other; the reference then counts it twice. */
function removeTwo(world: World): Step {
  const ids = world.random.some(world.calls, 2).map(({ id }) => id)
  for (const id of ids) forget(world, id)
  const removal = (call_ids: string[]) => ({ path: '/calls/delete', body: { project_id: world.project, call_ids } })
  return {
    what: 'deleting two calls at once',
    requests: [removal(ids), countCalls(world)],
    instead: [...ids.map((id) => removal([id])), countCalls(world)],
  }
}
