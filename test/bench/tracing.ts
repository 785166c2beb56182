import { withBenchServer } from './bench-server.ts'
import { atLeast, atMost, defineBench, type Figures } from './harness.ts'
import { measureReads } from './tracing/reads.ts'
import { measureWrites } from './tracing/writes.ts'

/**
 * How many calls are stored per second, and per second of processor time, here and by other servers on the same Postgres; and
 * reads in a project of 100 thousand calls and in one of a million.
 */
export const tracing = defineBench({
  stack: 'control',
  counts: { rounds: 5, bulk: 50_000, slow: 3_000, single: 10_000, small: 100_000, large: 1_000_000, requests: 40 },
  parts: ['writes', 'reads'],
  goals: {
    ours_vs_copy: atLeast(0.5),
    ours_vs_phoenix: atLeast(25),
    group_commit_vs_single_insert: atLeast(5),
    first_row_p95_ms: atMost(30),
    first_row_large_vs_small: atMost(1.3),
    page_p95_ms: atMost(100),
    page_large_vs_small: atMost(1.3),
  },
  measure: ({ stack, counts, parts }) =>
    withBenchServer(stack, async (server): Promise<Figures> => {
      const written = parts.includes('writes') ? await measureWrites(stack, server, counts) : {}
      return { ...written, ...(parts.includes('reads') ? await measureReads(server, counts) : {}) }
    }),
})
