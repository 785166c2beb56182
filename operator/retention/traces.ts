import { expireWeek, hasKeptCalls, listOldWeeks, expireSpilledOfWeek } from '../../db/retention/trace-weeks.ts'
import { removeDeletedVersions, removeDeletedCalls } from '../../db/deletion/traces.ts'
import { listRetention, expireLoneEnds, expireCalls, expireFeedback } from '../../db/retention/traces.ts'
import { createPartitions } from '../../db/tracing/create-partitions.ts'
import type { ArtifactStore } from '../../artifacts/store/store.ts'
import type { Pool } from '../../db/pool.ts'
import type { Logger } from '../../lib/log.ts'
import { expireReplacedPayloads } from './replaced-payloads.ts'

interface Deps {
  tracing: Pool
  artifacts: ArtifactStore
  log: Logger
  /** How many days calls are kept if their project sets nothing; null: forever. */
  traceDays: number | null
}

const weeksAhead = 4
// A statement with so few rows delays nobody.
const rowsPerStatement = 500
// If a client sends a deleted call again within this time, the call stays deleted. An end waits this long for its
// start.
const deletedDays = 7
// No request reads or writes a payload for longer.
const replacedSeconds = 3600

/** Creates the partitions for the calls of the coming weeks. */
export async function createTracePartitions({ tracing, log }: Pick<Deps, 'tracing' | 'log'>): Promise<void> {
  const weeks = await createPartitions(tracing, weeksAhead)
  if (weeks.length > 0) log.warn({ weeks }, 'calls of some weeks stay among those of other weeks for now')
}

/**
 * Removes calls and feedback beyond their project's retention: whole weeks if no project keeps them, else in small
 * portions. Removes what was deleted a week ago: calls, values of object versions, and ends without a start.
 */
export async function applyTraceRetention(deps: Deps): Promise<void> {
  const projects = await listRetention(deps.tracing, deps.traceDays)
  const maxDays = projects.reduce((max, { days }) => Math.max(max, days ?? Infinity), deps.traceDays ?? Infinity)
  if (Number.isFinite(maxDays)) await dropOldWeeks(deps, maxDays)
  for (const { number, days } of projects) {
    if (days === null) continue
    await repeatWhileFull(() => expireCalls(deps.tracing, { number, days, limit: rowsPerStatement }))
    await repeatWhileFull(() => expireFeedback(deps.tracing, { number, days, limit: rowsPerStatement }))
  }
  await repeatWhileFull(() => removeDeletedCalls(deps.tracing, { days: deletedDays, limit: rowsPerStatement }))
  await repeatWhileFull(() => removeDeletedVersions(deps.tracing, { days: deletedDays, limit: rowsPerStatement }))
  await repeatWhileFull(() => expireLoneEnds(deps.tracing, { days: deletedDays, limit: rowsPerStatement }))
  await repeatWhileFull(() => expireReplacedPayloads(deps, { seconds: replacedSeconds, limit: rowsPerStatement }))
}

async function dropOldWeeks(deps: Deps, days: number): Promise<void> {
  const { tracing, log } = deps
  const kept = { days, waitingDays: deletedDays }
  for (const week of await listOldWeeks(tracing, days)) {
    if (await hasKeptCalls(tracing, week, kept)) continue
    await repeatWhileFull(() => expireSpilledOfWeek(tracing, { ...kept, week, limit: rowsPerStatement }))
    if (await expireWeek(tracing, week, kept)) log.info({ week, days }, 'calls of a week dropped')
  }
}

async function repeatWhileFull(remove: () => Promise<number>): Promise<void> {
  while ((await remove()) === rowsPerStatement);
}
