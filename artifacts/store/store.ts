import type { Readable } from 'node:stream'

/** A stored object: its address (`artifact:///KEY`), the sha256 of its bytes in hex, and its size in bytes. */
export interface StoredArtifact {
  uri: string
  digest: string
  size: number
}

/** An object as lists show it. */
export interface ListedArtifact {
  key: string
  size: number
  modifiedAt: Date
}

/** Bytes of an object, counted from 0; `end` is the last one. */
export interface ByteRange {
  start: number
  end?: number
}

/**
 * Where payloads, training data and checkpoints lie. Objects are immutable, and complete or absent. A prefix names a
 * folder of keys: `payloads/a` covers `payloads/a/x`, and neither `payloads/ab` nor an object `payloads/a`.
 */
export interface ArtifactStore {
  /** Stores what a source gives, in bounded memory. */
  put(key: string, source: Readable | Uint8Array): Promise<StoredArtifact>
  /** Takes over a finished local file whose digest and size the caller has counted; the file is gone afterwards. */
  adopt(key: string, file: string, known: { digest: string; size: number }): Promise<StoredArtifact>
  /**
   * The path of a new local file to spool an upload into, from where `adopt` takes it the cheapest way.
   *
   * @throws {StoreFailed} when what is left of its disk is a reserve
   */
  spoolPath(): Promise<string>
  /** An object's bytes; none where a range starts behind its end. @throws {ArtifactMissing} */
  open(key: string, range?: ByteRange): Promise<Readable>
  stat(key: string): Promise<{ size: number; modifiedAt: Date } | undefined>
  /** The objects below a prefix, in no particular order. */
  list(prefix: string): AsyncIterable<ListedArtifact>
  /** Removes an object; a missing one is a success. */
  remove(key: string): Promise<void>
  /** Removes the objects below a prefix, and gives their number and bytes. */
  removeAll(prefix: string): Promise<{ objects: number; bytes: number }>
  /** Copies the objects below a prefix, `manifest.json` last: a reader that sees it sees the rest. */
  copyAll(fromPrefix: string, toPrefix: string): Promise<void>
  /** Removes half-made files and uploads that a crash left. */
  sweepTemporary(olderThanMs: number): Promise<void>
  /** Writes and removes a small object; throws when the store takes no writes. */
  probe(): Promise<void>
}
