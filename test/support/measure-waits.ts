import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'

/**
 * How long a small request waits at most for a server's event loop while another response is pending, in ms of the
 * event loop's processor time. A busy machine makes requests wait for longer, but does not give the event loop more work.
 */
export async function measureWaits(
  { url, pid }: { url: string; pid: number },
  answer: Promise<unknown>,
): Promise<number> {
  let isOver = false
  const over = answer.then(
    () => (isOver = true),
    () => (isOver = true),
  )
  let longest = 0
  while (!isOver) {
    const startMs = await readEventLoopMs(pid)
    const response = await fetch(`${url}/health`)
    await response.arrayBuffer()
    longest = Math.max(longest, (await readEventLoopMs(pid)) - startMs)
    await delay(5)
  }
  await over
  return longest
}

/** The processor time of a process's first thread since its start. Node.js runs its event loop there. */
async function readEventLoopMs(pid: number): Promise<number> {
  const [nanoseconds] = (await readFile(`/proc/${pid}/task/${pid}/schedstat`, 'utf8')).split(' ')
  return Number(nanoseconds) / 1e6
}
