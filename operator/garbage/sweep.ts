import {
  forgetGarbage,
  forgetOldBlobs,
  forgetOtherGarbage,
  isQuarantined,
  listOldGarbage,
  noteGarbage,
  restartQuarantine,
} from '../../db/queries/garbage.ts'
import { whileUnheld } from '../../db/store/held-keys.ts'
import { findNewestRow } from '../../db/store/installation.ts'
import type { Context } from '../context.ts'
import { holdsOf, refer, surveyStore, type SurveyedUnit } from './survey.ts'
import type { Unit } from './units.ts'

type Deps = Pick<Context, 'pool' | 'tracing' | 'artifacts' | 'log'>

const folders: ReadonlySet<Unit['kind']> = new Set(['checkpoint', 'progress', 'upload'])
const daySeconds = 24 * 3600
// Until something counts as garbage; and then for a person to see what is quarantined, and to say that it is none.
const untilGarbageSeconds = daySeconds
const quarantineSeconds = 7 * daySeconds
// What more there is waits for the next time.
const mostGarbage = 100_000
// The clocks of the store and of the databases differ.
const skewMs = 10 * 60_000
// Attempts that died leave a checkpoint now and then, and requests that failed a payload. Many things that the databases
// have never heard of belong to somebody else.
const fewUnseen = 10
const unseenShare = 0.1

/** What a sweep found, and why it removed nothing. */
export interface Sweep {
  found: number
  removed: number
  trouble: string | undefined
}

/**
 * Looks for what lies in the store and no row points at: it is quarantined (noted) when it is older than a day and than
 * the newest row, and removed when it is still so seven days later. Nothing is removed from a store that has much of which
 * the databases have never heard.
 */
export async function sweepGarbage(deps: Deps): Promise<Sweep> {
  await forgetOldBlobs(deps.pool, untilGarbageSeconds)
  const youngest = await findYoungest(deps)
  const { garbage, unreferenced, units, unseen } = await findGarbage(deps, youngest)
  if (unreferenced.length < mostGarbage) await forgetOtherGarbage(deps.pool, unreferenced)
  await quarantine(deps, garbage)
  const found = garbage.length
  if (unseen > Math.max(fewUnseen, units * unseenShare)) {
    await restartQuarantine(deps.pool)
    return { found, removed: 0, trouble: describeUnseen(unseen, units) }
  }
  return { found, removed: await removeOld(deps, garbage, youngest), trouble: undefined }
}

/** What is younger is no garbage: somebody may still write it, or it came after all that the databases know. */
async function findYoungest({ pool, tracing }: Deps): Promise<number> {
  const newest = await findNewestRow(pool, tracing)
  return Math.min(Date.now() - untilGarbageSeconds * 1000, (newest?.getTime() ?? -Infinity) - skewMs)
}

async function findGarbage(deps: Deps, youngest: number) {
  const found = { garbage: [] as SurveyedUnit[], unreferenced: [] as string[], units: 0, unseen: 0 }
  for await (const units of surveyStore(deps)) {
    const loose = units.filter(({ referenced }) => !referenced)
    const garbage = loose.filter(({ kept, modifiedAt }) => !kept && modifiedAt.getTime() < youngest)
    found.units += units.length
    found.unseen += garbage.filter(({ unseen }) => unseen).length
    if (found.unreferenced.length >= mostGarbage) continue
    found.unreferenced.push(...loose.map(({ prefix }) => prefix))
    found.garbage.push(...garbage)
  }
  return found
}

async function quarantine({ pool, log }: Deps, garbage: SurveyedUnit[]): Promise<void> {
  const noted = garbage.map(({ prefix, bytes, unseen }) => ({ prefix, bytes, unseen }))
  const added = await noteGarbage(pool, noted)
  if (added.length === 0) return
  const bytes = added.reduce((sum, unit) => sum + unit.bytes, 0)
  const some = added.slice(0, 20).map(({ prefix }) => prefix)
  log.warn(
    { units: added.length, bytes, some, removedAfterDays: quarantineSeconds / daySeconds },
    'nothing points at something in the artifact store: it is quarantined; npm run garbage shows and keeps it',
  )
}

function describeUnseen(unseen: number, units: number): string {
  return (
    `the database has never heard of ${unseen} of the ${units} things in the artifact store: nothing is removed as ` +
    'garbage. "npm run garbage -- list" shows them, "keep" keeps them, "release" says that they are garbage'
  )
}

async function removeOld(deps: Deps, garbage: Unit[], youngest: number): Promise<number> {
  const found = new Map(garbage.map((unit) => [unit.prefix, unit]))
  let removed = 0
  for (const { prefix } of await listOldGarbage(deps.pool, quarantineSeconds)) {
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
    await forgetGarbage(pool, prefix)
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
