import { folderOf } from '../../artifacts/layout.ts'
import { countErased, type RunningErasure } from '../../db/erasure/erase.ts'
import { eraseGarbageRows } from '../../db/gc/garbage.ts'
import { whileUnheld } from '../../db/store/held-keys.ts'
import { isKey } from '../../artifacts/store/keys.ts'
import type { Context } from '../context.ts'
import { holdsOf, refer } from '../gc/survey.ts'
import { gatherUnits, type Unit } from '../gc/units.ts'

type Deps = Pick<Context, 'pool' | 'tracing' | 'artifacts'>

// Where keys begin with the name of their entity.
const kinds = ['payload', 'blob', 'call'] as const
const unitsAtOnce = 500

/**
 * Removes what lies in the store under the name of an entity and no row points at: requests that died leave such things,
 * and so do databases that were restored. False when one of them is written just now.
 */
export async function eraseLeftovers(deps: Deps, erasure: RunningErasure): Promise<boolean> {
  let areGone = true
  for (const kind of kinds) {
    for await (const unit of listUnreferenced(deps, folderOf(kind, { entity: erasure.entity }))) {
      const isGone = await eraseUnit(deps, erasure, unit)
      areGone &&= isGone
    }
  }
  // Their names have the entity's in them.
  await eraseGarbageRows(deps.pool, erasure.entity)
  return areGone
}

async function* listUnreferenced(deps: Deps, prefix: string): AsyncIterable<Unit> {
  // Entities of earlier times may have names that no key can have.
  if (!isKey(prefix)) return
  for await (const units of gatherUnits(deps.artifacts.list(prefix), unitsAtOnce)) {
    const references = await refer(deps, units)
    const used = new Set(references.filter(({ referenced }) => referenced).map((reference) => reference.prefix))
    yield* units.filter((unit) => !used.has(unit.prefix))
  }
}

/** Looks once more, while nobody writes it. */
function eraseUnit(deps: Deps, erasure: RunningErasure, unit: Unit): Promise<boolean> {
  return whileUnheld(holdsOf(deps, unit.kind), unit.prefix, async () => {
    const [reference] = await refer(deps, [unit])
    const remove = () => deps.artifacts.remove(unit.prefix)
    if (reference?.referenced === false) await countErased(deps.pool, erasure.id, { bytes: unit.bytes, remove })
    return true
  })
}
