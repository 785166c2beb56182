import type { StoredCall } from '../../../db/tracing/call-rows.ts'
import { countCalls, streamCalls, type CallSelection } from '../../../db/tracing/read-calls.ts'
import { splitBySize } from '../../../lib/split-by-size.ts'
import type { Caller } from '../../accounts/context.ts'
import type { CostDeps } from '../costs/service.ts'
import type { Project, ProjectDeps } from '../projects.ts'
import { partBytes, type ReadMemory } from '../read-memory.ts'
import { compileCallsOrder, compileCallsWhere } from '../query/calls-query.ts'
import { SqlParams } from '../query/params.ts'
import { selectColumns } from './columns.ts'
import { expandCalls } from './expand.ts'
import { findCostsAndFeedback, measureFeedback } from './costs-and-feedback.ts'
import { presentCall } from './present.ts'
import type { CallRead, CallsQuery, StatsQuery } from './query-schema.ts'
import { EventLoopYielder } from '../../../lib/event-loop.ts'
import { bytesOfSpilled, fetchSpilled, type SpilledDeps } from './spill.ts'

export interface CallDeps extends CostDeps, ProjectDeps, SpilledDeps {}

/** Who reads calls, and the memory that counts the read. */
export interface CallReading {
  caller: Caller
  reading: ReadMemory
}

/** Returns the calls that a query finds, as JSON texts in chunks. Data beside the rows is counted before it is read. */
export async function* findCalls(
  deps: CallDeps,
  { caller, reading }: CallReading,
  wanted: CallsQuery,
): AsyncGenerator<string[]> {
  const project = await deps.projects.find(caller, wanted.project_id)
  const next = (bytes: number) => reading.next(bytes)
  for await (const chunk of streamCalls(deps.pool, selectCalls(project, wanted), next)) {
    const apart = reading.bytes
    const feedback = await measureFeedback(deps.pool, { project, calls: chunk, wanted })
    const sizeOf = (call: StoredCall) => bytesOfSpilled(call) + (feedback.get(call.id) ?? 0)
    for (const calls of splitBySize(chunk, partBytes, sizeOf)) {
      reading.next(calls.reduce((sum, call) => sum + sizeOf(call), apart))
      yield* presentCalls(deps, { project, calls, wanted, reading })
    }
  }
}

/** Finds one call. Undefined when it does not exist or is deleted. */
export async function findCall(deps: CallDeps, by: CallReading, wanted: CallRead) {
  // Only the validated members: the body may have others, such as a limit.
  const query = {
    project_id: wanted.project_id,
    filter: { call_ids: [wanted.id] },
    limit: 1,
    include_costs: wanted.include_costs ?? null,
    include_storage_size: wanted.include_storage_size ?? null,
    include_total_storage_size: wanted.include_total_storage_size ?? null,
  }
  for await (const [call] of findCalls(deps, by, query)) return call
  return undefined
}

/** Counts the calls that a query finds, and their bytes if the request asks for them. */
export async function countFoundCalls(deps: ProjectDeps, caller: Caller, wanted: StatsQuery) {
  const project = await deps.projects.find(caller, wanted.project_id)
  const params = new SqlParams()
  const where = compileCallsWhere(readSelection(wanted), project, params)
  const withSize = wanted.include_total_storage_size === true
  const { count, bytes } = await countCalls(deps.pool, { where, limit: wanted.limit, values: params.values }, withSize)
  return { count, total_storage_size_bytes: bytes }
}

function selectCalls(project: Project, wanted: CallsQuery): CallSelection {
  const selection = { ...readSelection(wanted), sortBy: wanted.sort_by }
  const params = new SqlParams()
  return {
    columns: selectColumns(wanted),
    where: compileCallsWhere(selection, project, params),
    orderBy: compileCallsOrder(selection, project, params),
    limit: wanted.limit,
    offset: wanted.offset,
    values: params.values,
  }
}

function readSelection({ filter, query, expand_columns: expandColumns }: StatsQuery) {
  return { filter, query, expandColumns }
}

async function* presentCalls(
  deps: Pick<CallDeps, 'artifacts' | 'log' | 'pool' | 'prices'>,
  {
    project,
    calls,
    wanted,
    reading,
  }: { project: Project; calls: StoredCall[]; wanted: CallsQuery; reading: ReadMemory },
): AsyncGenerator<string[]> {
  await fetchSpilled(deps, calls)
  const extras = await findCostsAndFeedback(deps, { project, calls, wanted })
  const columns = wanted.return_expanded_column_values === false ? [] : (wanted.expand_columns ?? [])
  if (columns.length > 0) yield* expandCalls({ pool: deps.pool, reading }, project, { calls, columns, present })
  else yield presentAll()

  async function presentAll(): Promise<string[]> {
    const yielder = new EventLoopYielder()
    const texts: string[] = []
    for (const [index, call] of calls.entries()) {
      if (yielder.isDue()) await yielder.yield()
      texts.push(present(call, index))
    }
    return texts
  }

  function present(call: StoredCall, index: number): string {
    return presentCall(project.id, call, extras[index])
  }
}
