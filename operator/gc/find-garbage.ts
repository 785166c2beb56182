import { findNewestRow } from '../../db/store/installation.ts'
import { markStore, type MarkDeps, type MarkedUnit } from './mark.ts'

// The limit of each kind of garbage. The next sweep handles the rest.
const maxGarbage = 100_000
// The clocks of the store and of the databases differ.
const skewMs = 10 * 60_000

/** The units of the store that no row refers to, except those that an admin keeps. */
export interface FoundGarbage {
  /** The databases have had rows for these. */
  known: MarkedUnit[]
  unseen: MarkedUnit[]
  /** The prefixes of all unreferenced units, also of new ones; undefined if there are too many. */
  unreferenced: string[] | undefined
  /** The prefixes of kept units that rows refer to again. */
  usedAgain: string[]
  /** The counts of the whole store. */
  counts: { units: number; unseen: number }
}

/**
 * Computes the cutoff. What was changed after it is not garbage yet: somebody may still be writing it, or it is newer
 * than every row of the databases.
 */
export async function findCutoff({ pool, tracing }: MarkDeps, untilGarbageSeconds: number): Promise<number> {
  const newest = await findNewestRow(pool, tracing)
  return Math.min(Date.now() - untilGarbageSeconds * 1000, (newest?.getTime() ?? -Infinity) - skewMs)
}

/** Searches the whole store. Each of the two kinds of garbage has its own limit, so that neither hides the other. */
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

/** Counts all units and keeps a limited number of them. */
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
