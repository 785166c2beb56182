import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { within } from './within.ts'

const limitSeconds = 30
// Memory of what has ended is freed in a moment.
const restMs = 500

/** What a Node process has after a garbage collection in its heap and beside it in buffers. Its inspector is at `host:port`. */
export async function readHeapKb(inspector: string): Promise<number> {
  const response = await fetch(`http://${inspector}/json/list`)
  const [target] = (await response.json()) as { webSocketDebuggerUrl: string }[]
  const socket = new WebSocket(target!.webSocketDebuggerUrl)
  const call = async (method: string, params: object = {}) => {
    const answer = within(limitSeconds, `the inspector did not answer ${method}`, once(socket, 'message'))
    socket.send(JSON.stringify({ id: 1, method, params }))
    const [{ data }] = (await answer) as [{ data: string }]
    return (JSON.parse(data) as { result: { result?: { value: string } } }).result.result
  }
  try {
    await within(limitSeconds, 'the inspector did not answer', once(socket, 'open'))
    for (let times = 0; times < 3; times++) {
      await call('HeapProfiler.collectGarbage')
      await delay(restMs)
    }
    const found = await call('Runtime.evaluate', { expression: 'JSON.stringify(process.memoryUsage())' })
    const { heapUsed, external } = JSON.parse(found!.value) as NodeJS.MemoryUsage
    return (heapUsed + external) / 1_000
  } finally {
    socket.close()
  }
}
