import type { Readable } from 'node:stream'
import type { ArtifactStore, ByteRange, ListedArtifact, StoredArtifact } from '../../artifacts/store/store.ts'

/** An object was not removed, because the store is not ours, or not any more. */
export class StoreNotOurs extends Error {
  override readonly name = 'StoreNotOurs'
}

/** An artifact store that checks before each removal whether it is allowed. */
export class GuardedStore implements ArtifactStore {
  readonly #store: ArtifactStore
  readonly #check: () => Promise<void>

  /** @param check throws if nothing may be removed */
  constructor(store: ArtifactStore, check: () => Promise<void>) {
    this.#store = store
    this.#check = check
  }

  async remove(key: string): Promise<void> {
    await this.#check()
    await this.#store.remove(key)
  }

  async removeAll(prefix: string): Promise<{ objects: number; bytes: number }> {
    await this.#check()
    return this.#store.removeAll(prefix)
  }

  put(key: string, source: Readable | Uint8Array): Promise<StoredArtifact> {
    return this.#store.put(key, source)
  }

  putExact(
    key: string,
    source: AsyncIterable<Uint8Array>,
    expected: { size: number; md5: string },
  ): Promise<StoredArtifact> {
    return this.#store.putExact(key, source, expected)
  }

  adopt(key: string, file: string, known: { digest: string; size: number }): Promise<StoredArtifact> {
    return this.#store.adopt(key, file, known)
  }

  spoolPath(): Promise<string> {
    return this.#store.spoolPath()
  }

  open(key: string, range?: ByteRange): Promise<Readable> {
    return this.#store.open(key, range)
  }

  stat(key: string): Promise<{ size: number; modifiedAt: Date } | undefined> {
    return this.#store.stat(key)
  }

  list(prefix: string): AsyncIterable<ListedArtifact> {
    return this.#store.list(prefix)
  }

  copyAll(fromPrefix: string, toPrefix: string): Promise<void> {
    return this.#store.copyAll(fromPrefix, toPrefix)
  }

  sweepTemporary(olderThanMs: number): Promise<void> {
    return this.#store.sweepTemporary(olderThanMs)
  }

  probe(): Promise<void> {
    return this.#store.probe()
  }
}
