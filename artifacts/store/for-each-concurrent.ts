/** Works on the items of a source, a bounded number of them at the same time; ends at the first failure. */
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
