import { locate, type Kind } from '../../artifacts/layout.ts'
import type { ListedArtifact } from '../../artifacts/store/store.ts'

/**
 * Objects that are kept or removed together: a checkpoint's folder, its statistics, a save of a job, a payload, a data
 * set file, the parts of an upload, a call's payload, or a trace file.
 */
export interface Unit {
  kind: Kind
  prefix: string
  bytes: number
  /** The time of its newest object. */
  modifiedAt: Date
}

/**
 * Groups a listing into units, in portions of `portionSize`. Stores list a folder's objects one after another. A unit
 * whose objects are listed separately comes twice, each time with its age. Keys of no kind are not ours and are left
 * out.
 */
export async function* gatherUnits(listed: AsyncIterable<ListedArtifact>, portionSize: number): AsyncIterable<Unit[]> {
  let portion: Unit[] = []
  for await (const { key, size, modifiedAt } of listed) {
    const found = locate(key)
    if (!found) continue
    const last = portion.at(-1)
    if (last?.prefix === found.prefix) {
      last.bytes += size
      if (modifiedAt > last.modifiedAt) last.modifiedAt = modifiedAt
      continue
    }
    if (portion.length >= portionSize) {
      yield portion
      portion = []
    }
    portion.push({ ...found, bytes: size, modifiedAt })
  }
  if (portion.length > 0) yield portion
}
