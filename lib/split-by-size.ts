/** Splits a list into parts, in order. Each part has at most this many bytes, or one item. */
export function* splitBySize<Item>(
  items: readonly Item[],
  maxBytes: number,
  sizeOf: (item: Item) => number,
): Generator<Item[]> {
  let part: Item[] = []
  let bytes = 0
  for (const item of items) {
    const own = sizeOf(item)
    if (part.length > 0 && bytes + own > maxBytes) {
      yield part
      part = []
      bytes = 0
    }
    part.push(item)
    bytes += own
  }
  if (part.length > 0) yield part
}
