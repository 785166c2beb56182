import type { Readable } from 'node:stream'

/** A stored object: its address (`artifact:///KEY`), the sha256 of its bytes in hex, and its size in bytes. */
export interface StoredArtifact {
  uri: string
  digest: string
  size: number
}

/** An object in a list. */
export interface ListedArtifact {
  key: string
  size: number
  modifiedAt: Date
}

/** A range of an object's bytes, counted from 0. `end` is inclusive. */
export interface ByteRange {
  start: number
  end?: number
}

/**
 * The store of payloads, training data and checkpoints. Objects are immutable, and complete or absent. A prefix is a
 * folder of keys: `payloads/a` covers `payloads/a/x`, but neither `payloads/ab` nor an object `payloads/a`.
 */
export interface ArtifactStore {
  /** Stores a source in bounded memory. */
  put(key: string, source: Readable | Uint8Array): Promise<StoredArtifact>
  /**
   * Stores a source of a known size in bounded memory, if its bytes have this MD5.
   *
   * @throws {WrongDigest} then nothing is stored
   */
  putExact(
    key: string,
    source: AsyncIterable<Uint8Array>,
    expected: { size: number; md5: string },
  ): Promise<StoredArtifact>
  /** Moves a finished local file into the store. The caller knows its digest and size. The file is gone afterwards. */
  adopt(key: string, file: string, known: { digest: string; size: number }): Promise<StoredArtifact>
  /**
   * The path of a new local file for an upload. `adopt` can move files from there most cheaply.
   *
   * @throws {StoreFailed} when only the reserve of its disk is free
   */
  spoolPath(): Promise<string>
  /** Reads an object's bytes. A range that starts after its end is empty. @throws {ArtifactMissing} */
  open(key: string, range?: ByteRange): Promise<Readable>
  stat(key: string): Promise<{ size: number; modifiedAt: Date } | undefined>
  /** The objects below a prefix, in any order. */
  list(prefix: string): AsyncIterable<ListedArtifact>
  /** Removes an object. A missing object is a success. */
  remove(key: string): Promise<void>
  /** Removes the objects below a prefix. Returns their number and bytes. */
  removeAll(prefix: string): Promise<{ objects: number; bytes: number }>
  /** Copies the objects below a prefix, `manifest.json` last: a reader that sees it sees the rest. */
  copyAll(fromPrefix: string, toPrefix: string): Promise<void>
  /** Removes incomplete files and uploads after crashes. */
  sweepTemporary(olderThanMs: number): Promise<void>
  /** Writes and removes a small object. Throws when the store cannot be written. */
  probe(): Promise<void>
}
