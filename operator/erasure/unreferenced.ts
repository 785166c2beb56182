import { folderOf } from '../../artifacts/layout.ts'
import { countErased, type RunningErasure } from '../../db/erasure/erase.ts'
import { eraseGarbageRows } from '../../db/gc/garbage.ts'
import { whileUnheld } from '../../db/store/held-keys.ts'
import { isKey } from '../../artifacts/store/keys.ts'
import { findReferences, keyHoldsOf, type MarkDeps } from '../gc/mark.ts'
import { gatherUnits, type Unit } from '../gc/units.ts'

// The keys of these kinds contain an entity's name.
const kinds = ['payload', 'blob', 'call'] as const
const unitsPerPortion = 500

/**
 * Erases unreferenced units with an entity's name. Failed requests and restored databases leave such units. Returns
 * false if a request is writing one of them now.
 */
export async function eraseUnreferenced(deps: MarkDeps, erasure: RunningErasure): Promise<boolean> {
  let areGone = true
  for (const kind of kinds) {
    for await (const unit of listUnreferenced(deps, folderOf(kind, { entity: erasure.entity }))) {
      const isGone = await eraseUnit(deps, erasure, unit)
      areGone &&= isGone
    }
  }
  // Their prefixes contain the entity's name.
  await eraseGarbageRows(deps.pool, erasure.entity)
  return areGone
}

async function* listUnreferenced(deps: MarkDeps, prefix: string): AsyncIterable<Unit> {
  // Old entities may have names that are not valid in keys.
  if (!isKey(prefix)) return
  for await (const units of gatherUnits(deps.artifacts.list(prefix), unitsPerPortion)) {
    const references = await findReferences(deps, units)
    const used = new Set(references.filter(({ referenced }) => referenced).map((reference) => reference.prefix))
    yield* units.filter((unit) => !used.has(unit.prefix))
  }
}

/** Checks for references again while nobody can write the unit. */
function eraseUnit(deps: MarkDeps, erasure: RunningErasure, unit: Unit): Promise<boolean> {
  return whileUnheld(keyHoldsOf(deps, unit.kind), unit.prefix, async () => {
    const [reference] = await findReferences(deps, [unit])
    const remove = () => deps.artifacts.remove(unit.prefix)
    if (reference?.referenced === false) await countErased(deps.pool, erasure.id, { bytes: unit.bytes, remove })
    return true
  })
}
