import { countModels, distributeCalls, type Counted } from '../../../db/tracing/call-statistics.ts'
import type { Caller } from '../../accounts/context.ts'
import type { ProjectDeps } from '../projects.ts'
import { CallFields } from '../query/call-fields.ts'
import { compileCallsWhere } from '../query/calls-query.ts'
import { SqlParams } from '../query/params.ts'
import type { CallStatisticsQuery } from './schema.ts'

// Counting takes some hundred milliseconds. Usage has to be parsed.
const maxCalls = 100_000
const maxParsed = 10_000
const maxValues = 50
// An op has many versions.
const maxOpNames = 500
const defaultBuckets = 60

/** Counts the calls of a project by time and by what screens filter by. */
export async function readCallStatistics(
  deps: ProjectDeps,
  { caller, projectId }: { caller: Caller; projectId: string },
  { filter, query, from, to, buckets: bucketCount = defaultBuckets }: CallStatisticsQuery,
) {
  const project = await deps.projects.find(caller, projectId)
  const params = new SqlParams()
  const conditions = [compileCallsWhere({ filter, query }, project, params)]
  if (from !== undefined) conditions.push(`c.started_at >= ${params.add(from)}::timestamptz`)
  if (to !== undefined) conditions.push(`c.started_at < ${params.add(to)}::timestamptz`)
  const selected = { where: conditions.join(' AND '), values: params.values }
  const status = new CallFields(project.id, [], params).resolve('summary.weave.status')
  const wanted = { ...selected, status: status.kind === 'text' ? status.sql : 'NULL', buckets: bucketCount }
  const range = { from: from ?? null, to: to ?? null }
  const found = await distributeCalls(deps.pool, { ...wanted, ...range, maxCalls, maxValues: maxOpNames })
  const models = await countModels(deps.pool, { ...selected, maxCalls: maxParsed, maxValues })
  const byIndex = new Map(found.buckets.map(({ index, ...bucket }) => [index, bucket]))
  return {
    calls: found.calls,
    is_whole: found.calls < maxCalls,
    from: found.from,
    to: found.to,
    buckets: Array.from({ length: bucketCount }, (_, index) => byIndex.get(index) ?? { calls: 0, errors: 0 }),
    ops: foldVersions(found.ops).slice(0, maxValues),
    statuses: found.statuses,
    threads: found.threads.slice(0, maxValues),
    models,
  }
}

/** Adds up the versions of each op. */
function foldVersions(ops: readonly Counted[]): Counted[] {
  const sums = new Map<string, number>()
  for (const { value, calls } of ops) {
    const name = readOpName(value)
    sums.set(name, (sums.get(name) ?? 0) + calls)
  }
  return Array.from(sums, ([value, calls]) => ({ value, calls })).toSorted((a, b) => b.calls - a.calls)
}

/** The name of an op in its reference. Other texts are names. */
function readOpName(op: string): string {
  return /^weave:\/\/\/[^/]+\/[^/]+\/op\/([^/:]+):/.exec(op)?.[1] ?? op
}
