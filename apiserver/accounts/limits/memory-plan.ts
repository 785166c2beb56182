const mib = 1024 * 1024

/**
 * What an apiserver may have in memory at once, whatever it is asked. The sum fits into what the chart gives a pod; a test
 * adds it up. A part grows only when another one shrinks. With several processes, a pod has so many times the memory; their
 * supervisor, of some 40 MiB, fits into the 55 MiB of code that the program of each counts and that they share.
 */
export const memoryPlan = {
  /** Requests, and what is made of them: see request-memory.ts. */
  requests: { bytes: 320 * mib },
  /**
   * Threads for what takes long: bodies of jobs, objects, spans. The largest of them fit into 320 MiB of heap; a thread whose
   * heap is full may end the whole process.
   */
  heavyThreads: { threads: 2, heapMib: 352, youngMib: 24, offHeapMib: 96 },
  /** The one for small bodies of jobs, which wait behind none of these. */
  smallThreads: { threads: 1, heapMib: 216, youngMib: 24, offHeapMib: 16 },
  /** Those in which people's JSON Schemas run. */
  schemaThreads: { threads: 2, heapMib: 64, youngMib: 8, offHeapMib: 1 },
  /** Each costs some 20 KiB, whether it asks for anything or not. */
  connections: { most: 8_000, bytesEach: 20 * 1024 },
  /** The program without a request, with garbage that is not collected yet. */
  program: { bytes: 220 * mib },
} as const

/** How a thread is kept within its part of the plan. */
export function toResourceLimits({ heapMib, youngMib }: { heapMib: number; youngMib: number }) {
  return { maxOldGenerationSizeMb: heapMib, maxYoungGenerationSizeMb: youngMib }
}
