import type { WorkerPool } from '../../lib/worker-threads/pool.ts'
import type { HistoriesTask } from './write-worker.ts'

const module = new URL('write-worker.ts', import.meta.url)
/** Parsed, a trajectory of so many bytes fits into the memory of a thread. */
export const maxCapturedBytes = 32 * 1024 * 1024
// The largest take a second on an idle machine.
const timeoutMs = 30_000

/**
 * Writes the histories of a captured trajectory as the JSON text of a list, in a thread. Undefined if that needs too much
 * time or memory.
 */
export async function writeHistories(
  threads: WorkerPool,
  { payload, model }: HistoriesTask,
): Promise<Uint8Array | undefined> {
  if (payload.length > maxCapturedBytes) return undefined
  const own = Uint8Array.from(payload)
  const task = { payload: own, model }
  return threads.run<HistoriesTask, Uint8Array>({ module, task, timeoutMs, transfer: [own.buffer] })
}
