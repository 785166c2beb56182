import { buffer } from 'node:stream/consumers'
import { ArtifactMissing } from '../../artifacts/store/missing.ts'
import type { ArtifactStore } from '../../artifacts/store/store.ts'

/** What an installation says in a store that it uses. */
export interface StoreSign {
  /** What the owner wrote last: a copy of its database does not know it. Null: whoever wrote this is not the owner. */
  mark: string | null
}

const folder = 'installations'
// Of what else may stand there one day; ours is much shorter.
const maxBytes = 65_536
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** The signs of an artifact store: each installation that uses it has one, and so has a copy of one. */
export class StoreSigns {
  readonly #artifacts: ArtifactStore
  readonly #own: string
  readonly #copy: string

  /** @param installation our id */
  constructor(artifacts: ArtifactStore, installation: string) {
    this.#artifacts = artifacts
    this.#own = `${folder}/${installation}.json`
    this.#copy = `${folder}/${installation}.copy.json`
  }

  /** The names of those who use the store beside us. */
  async listOthers(): Promise<string[]> {
    const others: string[] = []
    for await (const { key } of this.#artifacts.list(folder)) {
      if (key !== this.#own) others.push(key.slice(folder.length + 1).replace(/\.json$/, ''))
    }
    return others.sort()
  }

  /** Our own; undefined where there is none. One that nobody can read is nobody's. */
  async read(): Promise<StoreSign | undefined> {
    try {
      return parseSign((await buffer(await this.#artifacts.open(this.#own, { start: 0, end: maxBytes }))).toString())
    } catch (error) {
      if (error instanceof ArtifactMissing) return undefined
      throw error
    }
  }

  async write(sign: StoreSign): Promise<void> {
    await this.#put(this.#own, sign)
  }

  /** Says that two databases claim to be the same installation: we cannot know which of them is the copy. */
  async writeCopy(): Promise<void> {
    await this.#put(this.#copy, { mark: null })
  }

  /** Whoever is still there writes his anew. */
  async removeOthers(): Promise<void> {
    for (const name of await this.listOthers()) await this.#artifacts.remove(`${folder}/${name}.json`)
  }

  async #put(key: string, sign: StoreSign): Promise<void> {
    await this.#artifacts.put(key, Buffer.from(`${JSON.stringify(sign)}\n`))
  }
}

function parseSign(text: string): StoreSign {
  try {
    const { mark } = JSON.parse(text) as Record<string, unknown>
    return { mark: typeof mark === 'string' && uuid.test(mark) ? mark : null }
  } catch {
    return { mark: null }
  }
}
