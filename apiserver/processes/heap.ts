import os from 'node:os'

const mib = 1024 * 1024

/**
 * The argument that bounds a process's heap where the memory of all of them is limited. Without it, each takes half of the
 * whole for itself, as Node does for a process that is alone.
 */
export function heapArguments(processes: number, limitBytes = process.constrainedMemory()): string[] {
  if (limitBytes === 0 || limitBytes >= os.totalmem()) return []
  return [`--max-old-space-size=${Math.floor(limitBytes / processes / 2 / mib)}`]
}
