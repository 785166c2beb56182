import { locate, type Kind } from '../../artifacts/layout.ts'
import type { ListedArtifact } from '../../artifacts/store/store.ts'

/**
 * Objects that are kept or removed together: the folder of a checkpoint, its statistics, a save of a job, a payload, a file of
 * a data set, the parts of an upload, a payload of a call, or a file of traces.
 */
export interface Unit {
  kind: Kind
  prefix: string
  bytes: number
  /** of its newest object */
  modifiedAt: Date
}

/**
 * Groups a listing into units, in portions of `portionSize`. Stores list the objects of a folder one after the other; a unit
 * whose objects are listed apart comes twice, each time with its age. Keys of no kind are left out: they are not ours.
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
