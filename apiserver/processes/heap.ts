import os from 'node:os'

const mib = 1024 * 1024

/**
 * Returns the argument that limits the heap of each process if the memory of all of them is limited. Without it, each
 * process would use up to half of the whole memory, as Node does for a single process.
 */
export function heapArguments(processes: number, limitBytes = process.constrainedMemory()): string[] {
  if (limitBytes === 0 || limitBytes >= os.totalmem()) return []
  return [`--max-old-space-size=${Math.floor(limitBytes / processes / 2 / mib)}`]
}
