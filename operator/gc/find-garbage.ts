import { findNewestRow } from '../../db/store/installation.ts'
import { markStore, type MarkDeps, type MarkedUnit } from './mark.ts'

// Of either kind. The next sweep handles the rest.
const maxGarbage = 100_000
// The clocks of the store and of the databases differ.
const skewMs = 10 * 60_000

/** The units of the store that no row points at, without those that an admin keeps. */
export interface FoundGarbage {
  /** the databases have had rows for these */
  known: MarkedUnit[]
  unseen: MarkedUnit[]
  /** the prefixes of all units that no row points at, also of new ones; undefined when there are too many */
  unreferenced: string[] | undefined
  /** the prefixes of units that an admin keeps and that rows point at again */
  usedAgain: string[]
  /** of the whole store */
  counts: { units: number; unseen: number }
}

/**
 * The cutoff: what was changed after it is not garbage yet. Somebody may still write it, or it is newer than every row of
 * the databases.
 */
export async function findCutoff({ pool, tracing }: MarkDeps, untilGarbageSeconds: number): Promise<number> {
  const newest = await findNewestRow(pool, tracing)
  return Math.min(Date.now() - untilGarbageSeconds * 1000, (newest?.getTime() ?? -Infinity) - skewMs)
}

/** Looks through the whole store. The two kinds of garbage are bounded separately, so that neither hides the other. */
export async function findGarbage(deps: MarkDeps, cutoff: number): Promise<FoundGarbage> {
  const [known, unseen, unreferencedUnits, used] = [
    new BoundedUnits(),
    new BoundedUnits(),
    new BoundedUnits(),
    new BoundedUnits(),
  ]
  let count = 0
  for await (const units of markStore(deps)) {
    count += units.length
    for (const unit of units) {
      if (unit.referenced && unit.kept) used.add(unit)
      if (unit.referenced || unit.kept) continue
      unreferencedUnits.add(unit)
      if (unit.modifiedAt.getTime() < cutoff) (unit.unseen ? unseen : known).add(unit)
    }
  }
  return {
    known: known.units,
    unseen: unseen.units,
    unreferenced: unreferencedUnits.count > maxGarbage ? undefined : unreferencedUnits.prefixes,
    usedAgain: used.prefixes,
    counts: { units: count, unseen: unseen.count },
  }
}

/** Counts all units and keeps a bounded number of them. */
class BoundedUnits {
  readonly units: MarkedUnit[] = []
  count = 0

  add(unit: MarkedUnit): void {
    if (this.count++ < maxGarbage) this.units.push(unit)
  }

  get prefixes(): string[] {
    return this.units.map(({ prefix }) => prefix)
  }
}
