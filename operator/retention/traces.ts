import { dropWeek, hasKeptCalls, listOldWeeks, purgeSpilledOfWeek } from '../../db/tracing/partitions.ts'
import {
  emptyDeletedVersions,
  listRetention,
  purgeDeletedCalls,
  purgeLoneEnds,
  purgeOldCalls,
  purgeOldFeedback,
} from '../../db/retention/traces.ts'
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
    await repeatWhileFull(() => purgeOldCalls(deps.tracing, { number, days, limit: atOnce }))
    await repeatWhileFull(() => purgeOldFeedback(deps.tracing, { number, days, limit: atOnce }))
  }
  await repeatWhileFull(() => purgeDeletedCalls(deps.tracing, { days: deletedDays, limit: atOnce }))
  await repeatWhileFull(() => emptyDeletedVersions(deps.tracing, { days: deletedDays, limit: atOnce }))
  await repeatWhileFull(() => purgeLoneEnds(deps.tracing, { days: deletedDays, limit: atOnce }))
  await repeatWhileFull(() => removeReplaced(deps, { seconds: replacedSeconds, limit: atOnce }))
}

async function dropOldWeeks(deps: Deps, days: number): Promise<void> {
  const { tracing, log } = deps
  const kept = { days, waitingDays: deletedDays }
  for (const week of await listOldWeeks(tracing, days)) {
    if (await hasKeptCalls(tracing, week, kept)) continue
    await repeatWhileFull(() => purgeSpilledOfWeek(tracing, { ...kept, week, limit: atOnce }))
    if (await dropWeek(tracing, week, kept)) log.info({ week, days }, 'calls of a week dropped')
  }
}

async function repeatWhileFull(purge: () => Promise<number>): Promise<void> {
  while ((await purge()) === atOnce);
}
