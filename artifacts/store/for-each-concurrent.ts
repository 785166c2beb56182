/** Processes the items of a source, a bounded number at the same time. Stops at the first error. */
export async function forEachConcurrent<T>(source: AsyncIterable<T>, atOnce: number, work: (item: T) => Promise<void>) {
  const iterator = source[Symbol.asyncIterator]()
  let failed = false
  const worker = async () => {
    for (let next = await iterator.next(); !next.done && !failed; next = await iterator.next()) await work(next.value)
  }
  const guarded = () =>
    worker().catch((error: unknown) => {
      failed = true
      throw error
    })
  await Promise.all(Array.from({ length: atOnce }, guarded))
}
