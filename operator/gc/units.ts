import { locate, type Kind } from '../../artifacts/layout.ts'
import type { ListedArtifact } from '../../artifacts/store/store.ts'

/**
 * What goes together: a checkpoint's folder, its statistics, a job's save, a payload, a file of a data set, the parts of an
 * upload, a payload of a call, and a file of traces.
 */
export interface Unit {
  kind: Kind
  prefix: string
  bytes: number
  /** of its newest object */
  modifiedAt: Date
}

/**
 * The units of a listing, in portions of `atOnce`. Stores list what lies together one after the other; a unit whose
 * objects are torn apart comes twice, each time with its age. What lies at other places is not ours to judge.
 */
export async function* gatherUnits(listed: AsyncIterable<ListedArtifact>, atOnce: number): AsyncIterable<Unit[]> {
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
    if (portion.length >= atOnce) {
      yield portion
      portion = []
    }
    portion.push({ ...found, bytes: size, modifiedAt })
  }
  if (portion.length > 0) yield portion
}
