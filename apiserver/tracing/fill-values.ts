import { partBytes, type ReadMemory } from './read-memory.ts'

/** A stored item. Its value is null if the list query did not read it. */
interface ListedItem {
  size: number
  val: string | null
}

/**
 * Returns the items with their values. Values that are missing are read in batches while the caller iterates. `reading`
 * counts each batch.
 */
export async function* fillValues<T extends ListedItem>(
  listed: readonly T[],
  reading: ReadMemory,
  read: (batch: T[]) => Promise<(string | undefined)[]>,
): AsyncGenerator<T & { val: string }> {
  const known = listed.findIndex(({ val }) => val === null)
  for (const item of known < 0 ? listed : listed.slice(0, known)) yield { ...item, val: item.val! }
  for (let at = known < 0 ? listed.length : known; at < listed.length;) {
    const batch = takeBatch(listed, at)
    reading.next(sumSizes(batch))
    const values = await read(batch)
    // A value is missing if its item was erased meanwhile.
    for (const [index, val] of values.entries()) if (val !== undefined) yield { ...batch[index]!, val }
    at += batch.length
  }
}

function takeBatch<T extends ListedItem>(listed: readonly T[], from: number): T[] {
  let end = from
  for (let bytes = 0; end < listed.length; end++) {
    bytes += listed[end]!.size
    if (bytes > partBytes && end > from) break
  }
  return listed.slice(from, end)
}

function sumSizes(listed: readonly ListedItem[]): number {
  return listed.reduce((sum, { size }) => sum + size, 0)
}
