import { buffer } from 'node:stream/consumers'
import { ArtifactMissing } from '../../artifacts/store/missing.ts'
import type { ArtifactStore } from '../../artifacts/store/store.ts'

/** The sign of an installation in a store that it uses. */
export interface StoreSign {
  /** The owner's newest mark. A copy of its database does not know it. Null: the writer is not the owner. */
  mark: string | null
}

/** No object of users is there. */
export const signFolder = 'installations'
const folder = signFolder
// Our signs are much shorter. Later versions may write longer ones.
const maxBytes = 65_536
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/**
 * The signs in an artifact store. Each installation that uses the store has one, and so has each copy of an
 * installation.
 */
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

  /** The names of the other installations that use the store. */
  async listOthers(): Promise<string[]> {
    const others: string[] = []
    for await (const { key } of this.#artifacts.list(folder)) {
      if (key !== this.#own) others.push(key.slice(folder.length + 1).replace(/\.json$/, ''))
    }
    return others.sort()
  }

  /** Our sign; undefined if there is none. A sign that cannot be parsed has no mark. */
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

  /** Records that two databases claim to be the same installation. Nobody knows which of them is the copy. */
  async writeCopy(): Promise<void> {
    await this.#put(this.#copy, { mark: null })
  }

  /** Removes the signs of other installations. An installation that still runs writes its sign again. */
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
