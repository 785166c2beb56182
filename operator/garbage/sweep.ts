import {
  forgetGarbage,
  forgetOldBlobs,
  listOldGarbage,
  noteGarbage,
  referToBlobs,
  referToCheckpoints,
  referToPayloads,
  referToProgress,
  referToStatistics,
  type StoredUnit,
  type UnitReference,
} from '../../db/queries/garbage.ts'
import type { Pool } from '../../db/pool.ts'
import type { Context } from '../context.ts'
import { gatherUnits, type Unit } from './units.ts'

type Deps = Pick<Context, 'pool' | 'artifacts' | 'log'>

const folders: ReadonlySet<Unit['kind']> = new Set(['checkpoint', 'progress', 'upload'])
// A day until something counts as garbage, and another in quarantine.
const daySeconds = 24 * 3600
const unitsAtOnce = 500
// What more there is waits for the next time.
const mostGarbage = 100_000
// Attempts that died leave a checkpoint now and then. Many that the database has never heard of mean that it was
// restored from a copy older than the store.
const fewUnseen = 10
const unseenShare = 0.2

/** What a sweep found; `stopped` when it did nothing, because the store is newer than the database. */
export interface Sweep {
  found: number
  removed: number
  stopped: boolean
}

/**
 * Looks for what lies in the store and no row points at: it is quarantined (noted) when it is older than a day, and
 * removed when it is still so a day later. A store that is newer than the database is left alone.
 */
export async function sweepGarbage(deps: Deps, afterSeconds = daySeconds): Promise<Sweep> {
  await forgetOldBlobs(deps.pool, afterSeconds)
  const { garbage, checkpoints, unseen } = await findGarbage(deps, afterSeconds)
  if (unseen > Math.max(fewUnseen, checkpoints * unseenShare)) {
    const reason = 'the artifact store is newer than the database: nothing is removed from it'
    deps.log.error({ checkpoints, unseen }, reason)
    return { found: garbage.length, removed: 0, stopped: true }
  }
  await noteGarbage(deps.pool, garbage)
  const removed = await removeOld(deps, garbage, afterSeconds)
  return { found: garbage.length, removed, stopped: false }
}

async function findGarbage({ pool, artifacts }: Deps, afterSeconds: number) {
  const found = { garbage: [] as Unit[], checkpoints: 0, unseen: 0 }
  for await (const units of gatherUnits(artifacts.list(''), unitsAtOnce)) {
    found.checkpoints += units.filter(({ kind }) => kind === 'checkpoint').length
    const old = units.filter(({ modifiedAt }) => modifiedAt.getTime() < Date.now() - afterSeconds * 1000)
    const references = await refer(pool, old)
    found.unseen += references.filter(({ unseen }) => unseen).length
    const garbage = new Set(references.filter(({ referenced }) => !referenced).map(({ prefix }) => prefix))
    if (found.garbage.length < mostGarbage) found.garbage.push(...old.filter(({ prefix }) => garbage.has(prefix)))
  }
  return found
}

async function refer(pool: Pool, units: Pick<Unit, 'kind' | 'prefix'>[]): Promise<UnitReference[]> {
  const of = (kind: Unit['kind']) => units.filter((unit) => unit.kind === kind).map(({ prefix }) => prefix)
  const ids = of('checkpoint').map((prefix) => prefix.slice('checkpoints/'.length))
  const known = await Promise.all([
    referToCheckpoints(pool, ids),
    referToProgress(pool, of('progress')),
    referToStatistics(pool, of('statistics')),
    referToPayloads(pool, of('payload')),
    referToBlobs(pool, of('blob')),
  ])
  const uploads = of('upload').map((prefix) => ({ prefix, referenced: false, unseen: false }))
  return [...known.flat(), ...uploads]
}

async function removeOld(deps: Deps, garbage: Unit[], afterSeconds: number): Promise<number> {
  const kinds = new Map(garbage.map((unit) => [unit.prefix, unit.kind]))
  const old = await listOldGarbage(deps.pool, afterSeconds)
  let removed = 0
  for (const unit of old) {
    const kind = kinds.get(unit.prefix)
    if (kind && (await removeUnit(deps, { ...unit, kind }, afterSeconds))) removed++
  }
  return removed
}

/** Asks once more: it may be pointed at, or written anew, since it was listed. */
async function removeUnit(
  { pool, artifacts, log }: Deps,
  unit: StoredUnit & Pick<Unit, 'kind'>,
  afterSeconds: number,
): Promise<boolean> {
  const [reference] = await refer(pool, [unit])
  if (reference?.referenced) return false
  if (folders.has(unit.kind)) await artifacts.removeAll(unit.prefix)
  else {
    const found = await artifacts.stat(unit.prefix)
    if (found && found.modifiedAt.getTime() > Date.now() - afterSeconds * 1000) return false
    await artifacts.remove(unit.prefix)
  }
  await forgetGarbage(pool, unit.prefix)
  log.info({ prefix: unit.prefix, bytes: unit.bytes }, 'garbage removed from the artifact store')
  return true
}
