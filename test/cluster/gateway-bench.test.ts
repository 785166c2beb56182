import { expect, it } from 'vitest'
import { benchOnStack } from '../bench/gateway.ts'
import { isNightly } from '../support/random-cases.ts'
import { useStack } from '../support/stack.ts'

// The smallest sizes with which every contestant answers every kind of chat and each figure is measured.
const size = {
  rounds: 1,
  plain: 20,
  streams: 16,
  singleStreams: 1,
  warmUp: 0.1,
  restMs: 0,
  openStreams: 20,
  openMs: 100,
  settleMs: 0,
}

// `npm run bench` is a command of its own, and nothing else needs what this tests.
it.runIf(isNightly())('measures our server and a plain pipe', async () => {
  const only = ['pipe', 'ours'] as const
  const { report, result } = await benchOnStack(useStack(), { size, only, profile: undefined, beside: undefined })
  const { ratios, figures } = result
  const missing = Object.entries({ ...ratios, ...figures }).filter(([, value]) => !Number.isFinite(value))
  expect(missing).toEqual([])
  expect(Object.keys(ratios)).toEqual(
    expect.arrayContaining([
      'cpu_vs_bare_pipe_4kb_at_16',
      'cpu_per_event_vs_pipe_at_16',
      'p50_beyond_engine_4kb_ms',
      'idle_mb',
    ]),
  )
  expect(report).toMatch(/^\| p50_beyond_engine_4kb_ms \| at most 1 \| [\d.]+ \|$/m)
  // The benchmark counts the processor time of both, and with ours also that of Postgres, which few chats need.
  expect(figures['pipe_4kb_16_cpu_us']).toBeGreaterThan(0)
  const ofPostgres = Object.entries(figures).filter(([figure]) => /^ours.*_postgres_us$/.test(figure))
  expect(Math.max(...ofPostgres.map(([, us]) => us))).toBeGreaterThan(0)
})
