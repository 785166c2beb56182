const mib = 1024 * 1024

/**
 * The maximum memory of each part of an apiserver process, for any requests. The sum fits into the memory of a pod in
 * the chart, and a test adds it up. A part may grow only if another one shrinks.
 */
export const memoryPlan = {
  /** Requests and the values that they are parsed into. See request-memory.ts. */
  requests: { bytes: 320 * mib },
  /** Of these, what chats that are traced may take. */
  chatTraces: { bytes: 64 * mib },
  /**
   * Threads for slow work: bodies of jobs, objects, spans. The largest of these fit into 320 MiB of heap. A thread
   * whose heap is full may end the whole process.
   */
  heavyThreads: { threads: 2, heapMib: 352, youngMib: 24, offHeapMib: 96 },
  /** The thread for small bodies of jobs, which do not wait for the heavy threads. */
  smallThreads: { threads: 1, heapMib: 216, youngMib: 24, offHeapMib: 16 },
  /** The threads that check users' JSON Schemas. */
  schemaThreads: { threads: 2, heapMib: 64, youngMib: 8, offHeapMib: 1 },
  /** An open connection takes about 20 KiB, even if it is idle. */
  connections: { most: 8_000, bytesEach: 20 * 1024 },
  /** The program without requests, including garbage that is not collected yet. */
  program: { bytes: 220 * mib },
} as const

/** The limits that keep a thread within its part of the plan. */
export function toResourceLimits({ heapMib, youngMib }: { heapMib: number; youngMib: number }) {
  return { maxOldGenerationSizeMb: heapMib, maxYoungGenerationSizeMb: youngMib }
}
