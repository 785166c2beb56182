import { randomUUID } from 'node:crypto'
import { keepUnits } from '../../db/gc/garbage.ts'
import type { KeyHolds } from '../../db/store/held-keys.ts'
import { addMark, expireMarks, isMarkKnown, markClaimed, readInstallation } from '../../db/store/installation.ts'
import { isDatabaseUnavailable } from '../../db/unavailable.ts'
import { StoreSigns, type StoreSign } from './signs.ts'
import { markStore, type MarkedUnit } from './mark.ts'
import type { SweepDeps } from './sweep.ts'

/** Whether the store is ours alone. */
export interface Ownership {
  /** Why it is not ours, or why that is unknown; undefined if it is ours. */
  trouble: string | undefined
  /** It has just become ours. */
  isNew: boolean
}

// An installation from before the signs has few units that its database does not know.
const maxUnseenShare = 0.1
// Listing a store takes long. A failed adoption will mostly fail again.
const betweenAdoptionsMs = 3600_000
// The row of a younger unit may not be committed yet.
const settledMs = 10 * 60_000

const nothing = 'nothing is removed from the artifact store, because'
const paused = `${nothing} a backup is being made`
const claimHint = 'If the store belongs to this installation alone, run: npm run garbage -- claim'

/**
 * Finds out who owns the store. Each installation has a sign in the store that it uses. The sign holds a mark that only
 * the installation's databases know. Each check replaces the mark. A restored or copied database does not know the
 * newest mark.
 */
export class StoreOwnership {
  readonly #deps: SweepDeps
  #unsigned = `${nothing} it has no owner and was not scanned yet`
  #adoptionTriedMs = -Infinity

  constructor(deps: SweepDeps) {
    this.#deps = deps
  }

  /**
   * Checks who owns the store. If it is ours, or becomes ours by a claim or an adoption, renews the mark of our sign.
   */
  async renew(): Promise<Ownership> {
    const { claimWanted, isPaused, ...context } = await this.#open()
    const { signs, databases } = context
    if (isPaused) return { trouble: paused, isNew: false }
    const isWhole = databases.length === 2
    if (claimWanted && isWhole) return this.#claim(signs)
    const own = await signs.read()
    const trouble = await findConflict(context, own)
    if (trouble !== undefined) return { trouble, isNew: false }
    const isNew = !own?.mark
    if (isNew && !(isWhole && (await this.#adopt()))) return { trouble: this.#unsigned, isNew: false }
    if (isWhole) await this.#renewMark(signs)
    return { trouble: undefined, isNew }
  }

  /** Why the store is not ours now; undefined if it is. Writes no new mark. */
  async check(): Promise<string | undefined> {
    const { isPaused, ...context } = await this.#open()
    if (isPaused) return paused
    const own = await context.signs.read()
    return (await findConflict(context, own)) ?? (own?.mark ? undefined : this.#unsigned)
  }

  async #open() {
    const { id, claimWanted, isPaused } = await readInstallation(this.#deps.pool)
    const signs = new StoreSigns(this.#deps.artifacts, id)
    return { signs, databases: await this.#listReachable(), claimWanted, isPaused }
  }

  /** Adopts an empty store, or a store with few units that the databases do not know. Those units are kept. */
  async #adopt(): Promise<boolean> {
    if (performance.now() - this.#adoptionTriedMs < betweenAdoptionsMs) return false
    this.#adoptionTriedMs = performance.now()
    const { unseen, settled, settledUnseen } = await this.#findUnseen()
    if (settledUnseen > settled * maxUnseenShare) {
      const share = `${settledUnseen} of its ${settled} objects`
      this.#unsigned = `${nothing} it has no owner, and the database does not know ${share}. ${claimHint}`
      return false
    }
    await keepUnits(this.#deps.pool, unseen)
    return true
  }

  /**
   * Claims the store for us, on an admin's request. Units that the databases do not know are kept until an admin
   * releases them.
   */
  async #claim(signs: StoreSigns): Promise<Ownership> {
    const { pool, log } = this.#deps
    const { unseen } = await this.#findUnseen()
    await keepUnits(pool, unseen)
    await signs.removeOthers()
    await this.#renewMark(signs)
    await markClaimed(pool)
    log.warn({ kept: unseen.length }, 'the artifact store is claimed for this installation')
    return { trouble: undefined, isNew: true }
  }

  /** `settled` counts the units that nobody is writing any more. */
  async #findUnseen() {
    const found = { unseen: [] as MarkedUnit[], settled: 0, settledUnseen: 0 }
    for await (const units of markStore(this.#deps)) {
      const settled = units.filter(({ modifiedAt }) => modifiedAt.getTime() < Date.now() - settledMs)
      found.settled += settled.length
      found.settledUnseen += settled.filter(({ unseen }) => unseen).length
      found.unseen.push(...units.filter(({ unseen }) => unseen))
    }
    return found
  }

  async #renewMark(signs: StoreSigns): Promise<void> {
    const mark = randomUUID()
    for (const holds of this.#databases()) await addMark(holds, mark)
    await signs.write({ mark })
    for (const holds of this.#databases()) await expireMarks(holds, mark)
  }

  #databases(): KeyHolds[] {
    const { pool, tracing } = this.#deps
    return [
      { schema: 'training', pool },
      { schema: 'tracing', pool: tracing },
    ]
  }

  /** Leaves out the tracing database while it is unavailable: training does not wait for it. */
  async #listReachable(): Promise<KeyHolds[]> {
    const [training, tracing] = this.#databases()
    const isReachable = await isMarkKnown(tracing!, randomUUID()).then(
      () => true,
      (error: unknown) => {
        if (isDatabaseUnavailable(error)) return false
        throw error
      },
    )
    return isReachable ? [training!, tracing!] : [training!]
  }
}

/** The signs of a store, and the databases that must know its mark. */
interface StoreContext {
  signs: StoreSigns
  databases: KeyHolds[]
}

/** Why the store is not ours alone: another installation has a sign in it, or our databases were restored or copied. */
async function findConflict(
  { signs, databases }: StoreContext,
  own: StoreSign | undefined,
): Promise<string | undefined> {
  const others = await signs.listOthers()
  const restored = own?.mark && (await findRestored(databases, own.mark))
  if (restored) {
    // The installation with the other copy must notice it too.
    await signs.writeCopy()
    const cause = `The ${restored} was restored, or a copy of it is in use.`
    return `${nothing} its mark is newer than the ${restored}. ${cause} ${claimHint}`
  }
  if (others.length === 0) return undefined
  if (!own) await signs.write({ mark: null })
  return `${nothing} other installations use it too (${others.slice(0, 5).join(', ')}). ${claimHint}`
}

/** Names the database that does not know a mark. */
async function findRestored(databases: KeyHolds[], mark: string): Promise<string | undefined> {
  for (const holds of databases) {
    if (!(await isMarkKnown(holds, mark))) return holds.schema === 'tracing' ? 'database of traces' : 'database'
  }
  return undefined
}
