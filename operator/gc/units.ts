import type { ListedArtifact } from '../../artifacts/store/store.ts'

/**
 * What goes together: a checkpoint's folder, its statistics, a job's save, a payload, a file of a data set, the parts of an
 * upload, a payload of a call, and a file of traces.
 */
export interface Unit {
  kind: 'checkpoint' | 'statistics' | 'progress' | 'payload' | 'blob' | 'upload' | 'call' | 'traceFile'
  prefix: string
  bytes: number
  /** of its newest object */
  modifiedAt: Date
}

const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const places: [Unit['kind'], RegExp][] = [
  ['checkpoint', new RegExp(`^checkpoints/${uuid}(?=/)`)],
  ['progress', new RegExp(`^progress/${uuid}/${uuid}(?=/)`)],
  ['statistics', new RegExp(`^token-statistics/${uuid}\\.parquet$`)],
  ['payload', /^payloads\/[^/]+\/[^/]+$/],
  ['blob', /^artifacts\/[^/]+\/[^/]+$/],
  ['upload', /^uploads\/[^/]+\/[^/]+(?=\/)/],
  ['call', /^traces\/[^/]+\/\d{1,9}\/calls\/[^/]+$/],
  ['traceFile', /^traces\/[^/]+\/\d{1,9}\/files\/[^/]+$/],
]

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

function locate(key: string): Pick<Unit, 'kind' | 'prefix'> | undefined {
  for (const [kind, pattern] of places) {
    const prefix = pattern.exec(key)?.[0]
    if (prefix !== undefined) return { kind, prefix }
  }
  return undefined
}
