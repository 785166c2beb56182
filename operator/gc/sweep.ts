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
import type { Context } from '../context.ts'
import { findGarbage, findYoungest, type FoundGarbage } from './find-garbage.ts'
import { holdsOf, refer, type SurveyedUnit } from './survey.ts'
import type { Unit } from './units.ts'

type Deps = Pick<Context, 'pool' | 'tracing' | 'artifacts' | 'log'>

const folders: ReadonlySet<Unit['kind']> = new Set(['checkpoint', 'progress', 'upload'])
const daySeconds = 24 * 3600
// For a person to see what is quarantined, and to say that it is no garbage.
const quarantineSeconds = 7 * daySeconds
// Attempts that died leave a checkpoint now and then, and requests that failed a payload. Many things that the databases
// have never heard of belong to somebody else.
const fewUnseen = 10
const unseenShare = 0.1

/** What a sweep found, and why it removed only some of it. */
export interface Sweep {
  found: number
  removed: number
  trouble: string | undefined
}

/**
 * Looks for what lies in the store and no row points at: it is quarantined (noted) when it is older than a day and than
 * the newest row, and removed when it is still so seven days later. Where there is much of which the databases have never
 * heard, nothing of that is removed, and what they know to be garbage goes on being removed.
 */
export async function sweepGarbage(deps: Deps): Promise<Sweep> {
  await quarantineUnneededBlobs(deps.pool, daySeconds)
  const youngest = await findYoungest(deps, daySeconds)
  const { known, unseen, unreferenced, usedAgain, counts } = await findGarbage(deps, youngest)
  if (unreferenced) await releaseOtherUnits(deps.pool, unreferenced)
  await releaseReferencedUnits(deps.pool, usedAgain)
  await quarantine(deps, [...known, ...unseen])
  const isTooMuch = counts.unseen > Math.max(fewUnseen, counts.units * unseenShare)
  if (isTooMuch) await restartQuarantine(deps.pool)
  return {
    found: known.length + unseen.length,
    removed: await removeOld(deps, isTooMuch ? known : [...known, ...unseen], youngest),
    trouble: isTooMuch ? describeUnseen(counts) : undefined,
  }
}

async function quarantine({ pool, log }: Deps, garbage: SurveyedUnit[]): Promise<void> {
  const noted = garbage.map(({ prefix, bytes, unseen }) => ({ prefix, bytes, unseen }))
  const added = await quarantineUnits(pool, noted)
  if (added.length === 0) return
  const bytes = added.reduce((sum, unit) => sum + unit.bytes, 0)
  const some = added.slice(0, 20).map(({ prefix }) => prefix)
  log.warn(
    { units: added.length, bytes, some, removedAfterDays: quarantineSeconds / daySeconds },
    'nothing points at something in the artifact store: it is quarantined; npm run garbage shows and keeps it',
  )
}

function describeUnseen({ unseen, units }: FoundGarbage['counts']): string {
  return (
    `the database has never heard of ${unseen} of the ${units} things in the artifact store: none of them is removed. ` +
    '"npm run garbage -- list" shows them, "keep" keeps them, "release" says that they are garbage'
  )
}

async function removeOld(deps: Deps, garbage: Unit[], youngest: number): Promise<number> {
  const found = new Map(garbage.map((unit) => [unit.prefix, unit]))
  let removed = 0
  for (const { prefix } of await listCollectableUnits(deps.pool, quarantineSeconds)) {
    const unit = found.get(prefix)
    if (unit && (await removeUnit(deps, unit, youngest))) removed++
  }
  return removed
}

/** Asks once more, while nobody writes it: it may be pointed at, kept, or written anew, since it was listed. */
function removeUnit(deps: Deps, unit: Unit, youngest: number): Promise<boolean> {
  const { pool, artifacts, log } = deps
  const { kind, prefix, bytes } = unit
  return whileUnheld(holdsOf(deps, kind), prefix, async () => {
    const [reference] = await refer(deps, [unit])
    if (!reference || reference.referenced || !(await isQuarantined(pool, prefix))) return false
    if ((await findNewestChange(deps, unit)) >= youngest) return false
    if (folders.has(kind)) await artifacts.removeAll(prefix)
    else await artifacts.remove(prefix)
    await markUnitCollected(pool, prefix)
    log.info({ prefix, bytes }, 'garbage removed from the artifact store')
    return true
  })
}

async function findNewestChange({ artifacts }: Deps, { kind, prefix }: Unit): Promise<number> {
  if (!folders.has(kind)) return (await artifacts.stat(prefix))?.modifiedAt.getTime() ?? -Infinity
  let newest = -Infinity
  for await (const { modifiedAt } of artifacts.list(prefix)) newest = Math.max(newest, modifiedAt.getTime())
  return newest
}
