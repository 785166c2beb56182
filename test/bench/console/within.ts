/** Waits at most so many seconds. A page that hangs answers nothing, and playwright would wait for it forever. */
export async function within<T>(seconds: number, sentence: string, work: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`${sentence} within ${seconds} s`)), seconds * 1_000)
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
    work.catch(() => {})
  }
}
