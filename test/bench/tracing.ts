import { createPool } from '../../db/pool.ts'
import { createLogger } from '../../lib/log.ts'
import { bringUpStack, type StackHandle } from '../support/global-setup.ts'
import { withBenchServer, type BenchServer } from './bench-server.ts'
import { readPostgresPid } from './postgres-pid.ts'
import { median, type BenchResult } from './result.ts'
import { withPhoenix } from './tracing/phoenix.ts'
import { measureReads } from './tracing/reads.ts'
import { withReference } from './tracing/reference.ts'
import { describe, measureWriters, ratio, type Measured } from './tracing/rounds.ts'
import { withSingleServer } from './tracing/single.ts'
import { copyNames, createWriters } from './tracing/writers.ts'

const log = createLogger('bench', 'silent')

const sizes = {
  full: {
    rounds: 5,
    counts: { bulk: 50_000, slow: 3_000, single: 10_000 },
    reads: { small: 100_000, large: 1_000_000 },
  },
  // This size shows that the benchmark works, not the speed.
  quick: { rounds: 1, counts: { bulk: 5_000, slow: 500, single: 1_000 }, reads: { small: 2_000, large: 20_000 } },
}

/**
 * Measures how many calls are stored per second, and per second of CPU time, here and by other servers on the same
 * Postgres. Also measures reads in a project of 100 thousand calls and in one of a million.
 */
export async function benchTracing([size]: string[]): Promise<BenchResult> {
  const { rounds, counts, reads } = size === 'quick' ? sizes.quick : sizes.full
  const { handle, tearDown } = await bringUpStack(false)
  try {
    return await withBenchServer(handle, async (server) => {
      const written = await measureWrites(handle, server, { rounds, counts })
      // Reading takes some more minutes.
      process.stderr.write(`written: ${JSON.stringify(written)}\n`)
      const read = await measureReads(server, reads)
      return { ratios: { ...written.ratios, ...read.ratios }, figures: { ...written.figures, ...read.figures } }
    })
  } finally {
    await tearDown()
  }
}

type WriteSizes = Pick<(typeof sizes)['full'], 'rounds' | 'counts'>

async function measureWrites(
  handle: StackHandle,
  server: BenchServer,
  { rounds, counts }: WriteSizes,
): Promise<BenchResult> {
  const postgresPid = await readPostgresPid(handle)
  const pool = createPool(server.databaseUrl, log, 70)
  try {
    const measured = await withPhoenix(handle.databaseUrl, (phoenix) =>
      withReference((reference) =>
        withSingleServer({ pool, databaseUrl: server.databaseUrl }, (single) => {
          const writers = createWriters({ server, pool, postgresPid, phoenix, reference, single, counts })
          return measureWriters(pool, writers, rounds)
        }),
      ),
    )
    return { ratios: compare(measured), figures: describe(measured) }
  } finally {
    await pool.end()
  }
}

/** Compares each promised figure with the best of the other side. */
function compare(measured: Record<string, Measured>): Record<string, number> {
  const of = (name: string) => measured[name]!
  const copies = copyNames.map((name) => of(name).perSecond)
  const copy = copies.toSorted((a, b) => median(b) - median(a))[0]!
  return {
    ours_vs_copy: ratio(of('ours').perSecond, copy),
    // Both get the same spans. Afterwards the server here gets the same calls as its SDKs send them.
    ours_vs_phoenix: ratio(of('ours_otlp').perCpuSecond, of('phoenix').perCpuSecond),
    ours_vs_phoenix_by_clock: ratio(of('ours_otlp').perSecond, of('phoenix').perSecond),
    ours_complete_vs_phoenix: ratio(of('ours').perCpuSecond, of('phoenix').perCpuSecond),
    ours_vs_reference: ratio(of('ours_upsert').perSecond, of('reference').perSecond),
    ours_vs_reference_cpu: ratio(of('ours_upsert').perCpuSecond, of('reference').perCpuSecond),
    group_commit_vs_single: ratio(of('ours_one_call').perSecond, of('single_insert').perSecond),
    group_commit_vs_single_http: ratio(of('ours_one_call').perSecond, of('single_insert_http').perSecond),
  }
}
