import { setTimeout as delay } from 'node:timers/promises'
import { within } from './within.ts'

const limitSeconds = 30
// Memory of what has ended is freed in a moment.
const restMs = 500

/** What a Node process has after a garbage collection, in kB: in its heap, and beside it in buffers; and all of its memory. */
export interface ProcessMemory {
  heapKb: number
  rssKb: number
}

/** Asks the inspector of a Node process, which listens at `host:port`. */
export async function readMemory(inspector: string): Promise<ProcessMemory> {
  const response = await fetch(`http://${inspector}/json/list`)
  const [target] = (await response.json()) as { webSocketDebuggerUrl: string }[]
  const socket = new WebSocket(target!.webSocketDebuggerUrl)
  try {
    await within(limitSeconds, 'the inspector did not answer', once(socket, 'open'))
    for (let round = 0; round < 3; round++) {
      await call(socket, 'HeapProfiler.collectGarbage')
      await delay(restMs)
    }
    const expression = 'JSON.stringify(process.memoryUsage())'
    const { result } = (await call(socket, 'Runtime.evaluate', { expression })) as { result: { value: string } }
    const { heapUsed, external, rss } = JSON.parse(result.value) as NodeJS.MemoryUsage
    return { heapKb: (heapUsed + external) / 1_000, rssKb: rss / 1_000 }
  } finally {
    socket.close()
  }
}

async function call(socket: WebSocket, method: string, params: object = {}): Promise<unknown> {
  const answer = once(socket, 'message')
  socket.send(JSON.stringify({ id: 1, method, params }))
  const event = await within(limitSeconds, `the inspector did not answer ${method}`, answer)
  const { result, error } = JSON.parse(String((event as MessageEvent).data)) as {
    result?: unknown
    error?: { message: string }
  }
  if (error) throw new Error(`${method}: ${error.message}`)
  return result
}

function once(socket: WebSocket, name: 'open' | 'message'): Promise<Event> {
  const { promise, resolve, reject } = Promise.withResolvers<Event>()
  socket.addEventListener(name, resolve, { once: true })
  socket.addEventListener('error', () => reject(new Error('the inspector closed the connection')), { once: true })
  return promise
}
