import { setTimeout as delay } from 'node:timers/promises'

/** The longest latency of a small request, in ms, while another response is pending. */
export async function measureWaits(url: string, answer: Promise<unknown>): Promise<number> {
  let isOver = false
  const over = answer.then(
    () => (isOver = true),
    () => (isOver = true),
  )
  let longest = 0
  while (!isOver) {
    const startMs = performance.now()
    const response = await fetch(`${url}/health`)
    await response.arrayBuffer()
    longest = Math.max(longest, performance.now() - startMs)
    await delay(5)
  }
  await over
  return longest
}
