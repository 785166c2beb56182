import { randomUUID } from 'node:crypto'
import { keepUnits } from '../../db/gc/garbage.ts'
import type { KeyHolds } from '../../db/store/held-keys.ts'
import { addMark, expireMarks, isMarkKnown, markClaimed, readInstallation } from '../../db/store/installation.ts'
import { isDatabaseUnavailable } from '../../db/unavailable.ts'
import type { Context } from '../context.ts'
import { StoreSigns, type StoreSign } from './signs.ts'
import { surveyStore, type SurveyedUnit } from './survey.ts'

type Deps = Pick<Context, 'pool' | 'tracing' | 'artifacts' | 'log'>

/** Whether the store is ours alone. */
export interface Ownership {
  /** why it is not, or why that is not known; undefined when it is */
  trouble: string | undefined
  /** it has become ours just now */
  isNew: boolean
}

// An installation of before there were signs has few things that its database does not know.
const unseenShare = 0.1
// Listing a store takes long, and who finds much that it does not know will find it again.
const betweenSurveysMs = 3600_000
// What is younger may be on its way into the database.
const settledMs = 10 * 60_000

const nothing = 'nothing is removed from the artifact store:'
const claimHint = "If the store is this installation's own, say so: npm run garbage -- claim"

/**
 * Finds out whose the store is. Each installation has a sign in the store that it uses, and in it a mark that only its
 * databases know; it is replaced each time. A database that was restored, or that is a copy, does not know the newest mark.
 */
export class StoreOwnership {
  readonly #deps: Deps
  #unsigned = `${nothing} it does not say whose it is, and was not looked through yet`
  #surveyedMs = -Infinity

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Looks, and puts our sign where the store is ours: claims it, adopts it, and renews the mark. */
  async settle(): Promise<Ownership> {
    const { claimWanted, ...place } = await this.#open()
    const { signs, databases } = place
    const isWhole = databases.length === 2
    if (claimWanted && isWhole) return this.#claim(signs)
    const own = await signs.read()
    const trouble = await findStrangers(place, own)
    if (trouble !== undefined) return { trouble, isNew: false }
    const isNew = !own?.mark
    if (isNew && !(isWhole && (await this.#adopt()))) return { trouble: this.#unsigned, isNew: false }
    if (isWhole) await this.#renewMark(signs)
    return { trouble: undefined, isNew }
  }

  /** Looks whose the store is by now. */
  async look(): Promise<string | undefined> {
    const place = await this.#open()
    const own = await place.signs.read()
    return (await findStrangers(place, own)) ?? (own?.mark ? undefined : this.#unsigned)
  }

  async #open() {
    const { id, claimWanted } = await readInstallation(this.#deps.pool)
    return { signs: new StoreSigns(this.#deps.artifacts, id), databases: await this.#listReachable(), claimWanted }
  }

  /** An empty store is ours, and one whose things we know; what we do not know of it is kept. */
  async #adopt(): Promise<boolean> {
    if (performance.now() - this.#surveyedMs < betweenSurveysMs) return false
    this.#surveyedMs = performance.now()
    const { unseen, settled, settledUnseen } = await this.#findUnseen()
    if (settledUnseen > settled * unseenShare) {
      const share = `${settledUnseen} of the ${settled} things in it`
      this.#unsigned = `${nothing} it does not say whose it is, and the database has never heard of ${share}. ${claimHint}`
      return false
    }
    await keepUnits(this.#deps.pool, unseen)
    return true
  }

  /** Somebody says that the store is ours. What we have never heard of stays, until somebody says that it is garbage. */
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

  /** `settled`: what nobody is still writing. */
  async #findUnseen() {
    const found = { unseen: [] as SurveyedUnit[], settled: 0, settledUnseen: 0 }
    for await (const units of surveyStore(this.#deps)) {
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

  /** Training does not wait for the database of traces. */
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

/** A store and what is to know its mark. */
interface Place {
  signs: StoreSigns
  databases: KeyHolds[]
}

/** Why the store is not ours alone: somebody else says that it is his, or our databases are not those of last time. */
async function findStrangers({ signs, databases }: Place, own: StoreSign | undefined): Promise<string | undefined> {
  const others = await signs.listOthers()
  const restored = own?.mark && (await findRestored(databases, own.mark))
  if (restored) {
    // Whoever has the other copy is to know it too.
    await signs.writeCopy()
    return `${nothing} it is newer than the ${restored}, which was restored, or of which a copy is in use. ${claimHint}`
  }
  if (others.length === 0) return undefined
  if (!own) await signs.write({ mark: null })
  return `${nothing} it is used by other installations too (${others.slice(0, 5).join(', ')}). ${claimHint}`
}

/** Which of the databases does not know a mark. */
async function findRestored(databases: KeyHolds[], mark: string): Promise<string | undefined> {
  for (const holds of databases) {
    if (!(await isMarkKnown(holds, mark))) return holds.schema === 'tracing' ? 'database of traces' : 'database'
  }
  return undefined
}
