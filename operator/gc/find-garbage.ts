import { findNewestRow } from '../../db/store/installation.ts'
import type { Context } from '../context.ts'
import { surveyStore, type SurveyedUnit } from './survey.ts'

type Deps = Pick<Context, 'pool' | 'tracing' | 'artifacts'>

// Of either kind; what more there is waits for the next time.
const maxGarbage = 100_000
// The clocks of the store and of the databases differ.
const skewMs = 10 * 60_000

/** What lies in the store and no row points at, but for what is kept. */
export interface FoundGarbage {
  /** of which the databases have heard */
  known: SurveyedUnit[]
  unseen: SurveyedUnit[]
  /** the prefixes of all that no row points at, garbage or not yet; undefined when that are too many */
  unreferenced: string[] | undefined
  /** what is kept, and rows point at again */
  usedAgain: string[]
  /** of all that is there */
  counts: { units: number; unseen: number }
}

/** What is younger is no garbage: somebody may still write it, or it came after all that the databases know. */
export async function findYoungest({ pool, tracing }: Deps, untilGarbageSeconds: number): Promise<number> {
  const newest = await findNewestRow(pool, tracing)
  return Math.min(Date.now() - untilGarbageSeconds * 1000, (newest?.getTime() ?? -Infinity) - skewMs)
}

/** Looks through the whole store. However much is unseen, what is known is found too. */
export async function findGarbage(deps: Deps, youngest: number): Promise<FoundGarbage> {
  const [known, unseen, loose, used] = [new SomeUnits(), new SomeUnits(), new SomeUnits(), new SomeUnits()]
  let count = 0
  for await (const units of surveyStore(deps)) {
    count += units.length
    for (const unit of units) {
      if (unit.referenced && unit.kept) used.add(unit)
      if (unit.referenced || unit.kept) continue
      loose.add(unit)
      if (unit.modifiedAt.getTime() < youngest) (unit.unseen ? unseen : known).add(unit)
    }
  }
  return {
    known: known.units,
    unseen: unseen.units,
    unreferenced: loose.count > maxGarbage ? undefined : loose.prefixes,
    usedAgain: used.prefixes,
    counts: { units: count, unseen: unseen.count },
  }
}

/** As many as may be kept in mind, of all that are counted. */
class SomeUnits {
  readonly units: SurveyedUnit[] = []
  count = 0

  add(unit: SurveyedUnit): void {
    if (this.count++ < maxGarbage) this.units.push(unit)
  }

  get prefixes(): string[] {
    return this.units.map(({ prefix }) => prefix)
  }
}
