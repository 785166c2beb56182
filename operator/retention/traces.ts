import { expireWeek, hasKeptCalls, listOldWeeks, expireSpilledOfWeek } from '../../db/retention/trace-weeks.ts'
import { removeDeletedVersions, removeDeletedCalls } from '../../db/deletion/traces.ts'
import { listRetention, expireLoneEnds, expireCalls, expireFeedback } from '../../db/retention/traces.ts'
import { createPartitions } from '../../db/tracing/create-partitions.ts'
import type { Context } from '../context.ts'
import { removeReplaced } from './replaced.ts'

type Deps = Pick<Context, 'tracing' | 'artifacts' | 'log' | 'traceDays'>

const weeksAhead = 4
// Few enough that nobody waits for them.
const atOnce = 500
// What a client sends again within this is still known; and an end may wait so long for its start.
const deletedDays = 7
// Nobody reads or writes a payload for so long.
const replacedSeconds = 3600

/** Makes the partitions that calls of the coming weeks go into. */
export async function addTraceWeeks({ tracing, log }: Deps): Promise<void> {
  const weeks = await createPartitions(tracing, weeksAhead)
  if (weeks.length > 0) log.warn({ weeks }, 'calls of some weeks stay among those of other weeks for now')
}

/**
 * Removes calls that are kept no longer: whole weeks where no project keeps them, and else in small portions; and what was
 * deleted a while ago, of objects too.
 */
export async function applyTraceRetention(deps: Deps): Promise<void> {
  const projects = await listRetention(deps.tracing, deps.traceDays)
  const longest = projects.reduce((most, { days }) => Math.max(most, days ?? Infinity), deps.traceDays ?? Infinity)
  if (Number.isFinite(longest)) await dropOldWeeks(deps, longest)
  for (const { number, days } of projects) {
    if (days === null) continue
    await repeatWhileFull(() => expireCalls(deps.tracing, { number, days, limit: atOnce }))
    await repeatWhileFull(() => expireFeedback(deps.tracing, { number, days, limit: atOnce }))
  }
  await repeatWhileFull(() => removeDeletedCalls(deps.tracing, { days: deletedDays, limit: atOnce }))
  await repeatWhileFull(() => removeDeletedVersions(deps.tracing, { days: deletedDays, limit: atOnce }))
  await repeatWhileFull(() => expireLoneEnds(deps.tracing, { days: deletedDays, limit: atOnce }))
  await repeatWhileFull(() => removeReplaced(deps, { seconds: replacedSeconds, limit: atOnce }))
}

async function dropOldWeeks(deps: Deps, days: number): Promise<void> {
  const { tracing, log } = deps
  const kept = { days, waitingDays: deletedDays }
  for (const week of await listOldWeeks(tracing, days)) {
    if (await hasKeptCalls(tracing, week, kept)) continue
    await repeatWhileFull(() => expireSpilledOfWeek(tracing, { ...kept, week, limit: atOnce }))
    if (await expireWeek(tracing, week, kept)) log.info({ week, days }, 'calls of a week dropped')
  }
}

async function repeatWhileFull(purge: () => Promise<number>): Promise<void> {
  while ((await purge()) === atOnce);
}
