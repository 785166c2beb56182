import type { StoredCall } from '../../../db/tracing/read-calls.ts'

// Of payloads that are fetched from the artifact store at once.
const mostBytes = 16 * 1024 * 1024

/** Parts of a chunk of calls that are read whole from the artifact store, each in bounded memory (or one call). */
export function* splitBySize(calls: StoredCall[]): Generator<StoredCall[]> {
  let part: StoredCall[] = []
  let bytes = 0
  for (const call of calls) {
    const own = Object.values(call.spilled ?? {}).reduce((sum, { size }) => sum + size, 0)
    if (part.length > 0 && bytes + own > mostBytes) {
      yield part
      part = []
      bytes = 0
    }
    part.push(call)
    bytes += own
  }
  if (part.length > 0) yield part
}
