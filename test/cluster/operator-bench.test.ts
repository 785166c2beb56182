import { expect, it } from 'vitest'
import { benchOperatorOn } from '../bench/operator.ts'
import { isNightly } from '../support/random-cases.ts'
import { useStack } from '../support/stack.ts'

// The smallest sizes with which each figure is measured.
const size = { jobs: 40, models: 10, waiting: 20, starts: 5, few: 10, rounds: 1, many: 40 }

// `npm run bench` is a command of its own, and nothing else needs what this tests.
it.runIf(isNightly())(
  'measures jobs that pass, start and wait on a control plane with played nodes and trainers',
  async () => {
    const { ratios, figures } = await benchOperatorOn(useStack(), size)
    const missing = Object.entries({ ...ratios, ...figures }).filter(([, value]) => !Number.isFinite(value))
    expect(missing).toEqual([])
    // A job is created, and its end is written.
    expect(figures['post_trainingjobs_per_job']).toBe(1)
    expect(figures['writes_per_job']).toBeGreaterThanOrEqual(3)
    expect(Object.keys(ratios)).toEqual(['cost_of_job_many_vs_few', 'ours_vs_bare_writes'])
  },
  900_000,
)
