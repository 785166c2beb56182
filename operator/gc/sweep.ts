import {
  markUnitCollected,
  releaseReferencedUnits,
  quarantineUnneededBlobs,
  releaseOtherUnits,
  isQuarantined,
  listCollectableUnits,
  quarantineUnits,
  restartQuarantine,
} from '../../db/gc/garbage.ts'
import { whileUnheld } from '../../db/store/held-keys.ts'
import type { Logger } from '../../lib/log.ts'
import { findCutoff, findGarbage, type FoundGarbage } from './find-garbage.ts'
import { findReferences, keyHoldsOf, type MarkDeps, type MarkedUnit } from './mark.ts'
import type { Unit } from './units.ts'

export interface SweepDeps extends MarkDeps {
  log: Logger
}

const folders: ReadonlySet<Unit['kind']> = new Set(['checkpoint', 'progress', 'upload'])
const daySeconds = 24 * 3600
// In this time, an admin can check the quarantine and keep what is not garbage.
const quarantineSeconds = 7 * daySeconds
// Failed attempts leave a few checkpoints, and failed requests leave a few payloads. If the databases have never had
// rows for many units, the units belong to somebody else.
const tolerableUnseen = 10
const tolerableUnseenShare = 0.1

/** What a sweep found and removed, and why it did not remove the rest. */
export interface Sweep {
  found: number
  removed: number
  trouble: string | undefined
}

/**
 * Marks unreferenced units and quarantines those that are older than a day and older than the newest row. Removes units
 * that are still garbage seven days later. If the databases have never had rows for many units, removes none of these,
 * but still removes known garbage.
 */
export async function sweepGarbage(deps: SweepDeps): Promise<Sweep> {
  await quarantineUnneededBlobs(deps.pool, daySeconds)
  const cutoff = await findCutoff(deps, daySeconds)
  const { known, unseen, unreferenced, usedAgain, counts } = await findGarbage(deps, cutoff)
  if (unreferenced) await releaseOtherUnits(deps.pool, unreferenced)
  await releaseReferencedUnits(deps.pool, usedAgain)
  await quarantine(deps, [...known, ...unseen])
  const isTooMuch = counts.unseen > Math.max(tolerableUnseen, counts.units * tolerableUnseenShare)
  if (isTooMuch) await restartQuarantine(deps.pool)
  return {
    found: known.length + unseen.length,
    removed: await sweepQuarantine(deps, isTooMuch ? known : [...known, ...unseen], cutoff),
    trouble: isTooMuch ? describeUnseen(counts) : undefined,
  }
}

async function quarantine({ pool, log }: SweepDeps, garbage: MarkedUnit[]): Promise<void> {
  const found = garbage.map(({ prefix, bytes, unseen }) => ({ prefix, bytes, unseen }))
  const added = await quarantineUnits(pool, found)
  if (added.length === 0) return
  const bytes = added.reduce((sum, unit) => sum + unit.bytes, 0)
  const some = added.slice(0, 20).map(({ prefix }) => prefix)
  log.warn(
    { units: added.length, bytes, some, removedAfterDays: quarantineSeconds / daySeconds },
    'unreferenced objects in the artifact store are in quarantine; "npm run garbage" lists and keeps them',
  )
}

function describeUnseen({ unseen, units }: FoundGarbage['counts']): string {
  return (
    `the database does not know ${unseen} of the ${units} objects in the artifact store. None of them is removed. ` +
    'Run "npm run garbage -- list" to see them, then "keep" to keep them or "release" to remove them'
  )
}

async function sweepQuarantine(deps: SweepDeps, garbage: Unit[], cutoff: number): Promise<number> {
  const found = new Map(garbage.map((unit) => [unit.prefix, unit]))
  let removed = 0
  for (const { prefix } of await listCollectableUnits(deps.pool, quarantineSeconds)) {
    const unit = found.get(prefix)
    if (unit && (await sweepUnit(deps, unit, cutoff))) removed++
  }
  return removed
}

/**
 * Marks the unit again while nobody can write it. Since the listing, it may have been referenced, kept or rewritten.
 */
function sweepUnit(deps: SweepDeps, unit: Unit, cutoff: number): Promise<boolean> {
  const { pool, artifacts, log } = deps
  const { kind, prefix, bytes } = unit
  return whileUnheld(keyHoldsOf(deps, kind), prefix, async () => {
    const [reference] = await findReferences(deps, [unit])
    if (!reference || reference.referenced || !(await isQuarantined(pool, prefix))) return false
    if ((await findNewestChange(deps, unit)) >= cutoff) return false
    if (folders.has(kind)) await artifacts.removeAll(prefix)
    else await artifacts.remove(prefix)
    await markUnitCollected(pool, prefix)
    log.info({ prefix, bytes }, 'garbage removed from the artifact store')
    return true
  })
}

async function findNewestChange({ artifacts }: SweepDeps, { kind, prefix }: Unit): Promise<number> {
  if (!folders.has(kind)) return (await artifacts.stat(prefix))?.modifiedAt.getTime() ?? -Infinity
  let newest = -Infinity
  for await (const { modifiedAt } of artifacts.list(prefix)) newest = Math.max(newest, modifiedAt.getTime())
  return newest
}
