import { randomUUID } from 'node:crypto'
import { keepUnits } from '../../db/queries/garbage.ts'
import type { KeyHolds } from '../../db/store/held-keys.ts'
import {
  addMark,
  forgetOldMarks,
  isMarkKnown,
  noteClaimed,
  noteTrouble,
  readInstallation,
} from '../../db/store/installation.ts'
import { isDatabaseUnavailable } from '../../db/unavailable.ts'
import type { Context } from '../context.ts'
import { StoreSigns } from './signs.ts'
import { surveyStore, type SurveyedUnit } from './survey.ts'
import { sweepGarbage } from './sweep.ts'

type Deps = Pick<Context, 'pool' | 'tracing' | 'artifacts' | 'log'>

// An installation of before there were signs has few things that its database does not know.
const unseenShare = 0.1
// Listing a store takes long, and nobody waits for what it finds.
const betweenSurveysMs = 3600_000

// What is younger may be on its way into the database.
const settledMs = 10 * 60_000

const nothing = 'nothing is removed from the artifact store:'
const claimHint = "If the store is this installation's own, say so: npm run garbage -- claim"

/**
 * Sees to it that nothing is removed from a store that is not ours alone, or that is newer than the databases. Each
 * installation has a sign in the store that it uses, and in it a mark that only its databases know; it is replaced each time.
 * A database that was restored, or that is a copy, does not know the newest mark.
 */
export class StoreGuard {
  readonly #deps: Deps
  #isOurs = false
  #trouble: string | undefined
  #garbageTrouble: string | undefined
  #unsigned = `${nothing} it does not say whose it is, and was not looked through yet`
  #surveyedMs = -Infinity

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Whether anything may be removed from the store. */
  get isOurs(): boolean {
    return this.#isOurs
  }

  /** Why nothing, or no garbage, is removed from the store. */
  get trouble(): string | undefined {
    return this.#trouble
  }

  /** Looks whose the store is, and now and then for garbage in it. */
  async check(): Promise<void> {
    const databases = await this.#listReachable()
    const trouble = await this.#findTrouble(databases)
    this.#isOurs = trouble === undefined
    await this.#tell(trouble ?? this.#garbageTrouble)
    if (!this.#isOurs || !isWhole(databases) || !this.#isDue()) return
    this.#surveyedMs = performance.now()
    this.#garbageTrouble = (await sweepGarbage(this.#deps)).trouble
    await this.#tell(this.#garbageTrouble)
  }

  async #findTrouble(databases: KeyHolds[]): Promise<string | undefined> {
    const { pool, artifacts } = this.#deps
    const { id, claimWanted } = await readInstallation(pool)
    const signs = new StoreSigns(artifacts, id)
    if (claimWanted && isWhole(databases)) return this.#claim(signs)
    const trouble = await this.#judge(signs, databases)
    if (trouble === undefined && isWhole(databases)) await this.#renewMark(signs)
    return trouble
  }

  async #judge(signs: StoreSigns, databases: KeyHolds[]): Promise<string | undefined> {
    const [own, others] = [await signs.read(), await signs.listOthers()]
    const restored = own?.mark && (await findRestored(databases, own.mark))
    if (restored) {
      // Whoever has the other copy is to know it too.
      await signs.writeCopy()
      return `${nothing} it is newer than the ${restored}, which was restored, or of which a copy is in use. ${claimHint}`
    }
    if (others.length > 0) {
      if (!own) await signs.write({ mark: null })
      return `${nothing} it is used by other installations too (${others.slice(0, 5).join(', ')}). ${claimHint}`
    }
    if (own?.mark) return undefined
    return this.#isDue() && isWhole(databases) ? this.#adopt() : this.#unsigned
  }

  /** An empty store is ours, and one whose things we know; what we do not know of it is kept. */
  async #adopt(): Promise<string | undefined> {
    this.#surveyedMs = performance.now()
    const { unseen, settled, settledUnseen } = await this.#findUnseen()
    if (settledUnseen > settled * unseenShare) {
      const share = `${settledUnseen} of the ${settled} things in it`
      this.#unsigned = `${nothing} it does not say whose it is, and the database has never heard of ${share}. ${claimHint}`
      return this.#unsigned
    }
    this.#surveyedMs = -Infinity
    await keepUnits(this.#deps.pool, unseen)
    return undefined
  }

  /** Somebody says that the store is ours. What we have never heard of stays, until somebody says that it is garbage. */
  async #claim(signs: StoreSigns): Promise<undefined> {
    const { pool, log } = this.#deps
    const { unseen } = await this.#findUnseen()
    await keepUnits(pool, unseen)
    await signs.removeOthers()
    await this.#renewMark(signs)
    await noteClaimed(pool)
    log.warn({ kept: unseen.length }, 'the artifact store is claimed for this installation')
    this.#garbageTrouble = undefined
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
    for (const holds of this.#databases()) await forgetOldMarks(holds, mark)
  }

  #isDue(): boolean {
    return performance.now() - this.#surveyedMs > betweenSurveysMs
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

  async #tell(trouble: string | undefined): Promise<void> {
    const { pool, log } = this.#deps
    if (trouble !== undefined && trouble !== this.#trouble) log.error({ trouble }, 'the artifact store is left alone')
    this.#trouble = trouble
    await noteTrouble(pool, trouble ?? null)
  }
}

/** Which of the databases does not know a mark. */
async function findRestored(databases: KeyHolds[], mark: string): Promise<string | undefined> {
  for (const holds of databases) {
    if (!(await isMarkKnown(holds, mark))) return holds.schema === 'tracing' ? 'database of traces' : 'database'
  }
  return undefined
}

function isWhole(databases: KeyHolds[]): boolean {
  return databases.length === 2
}
