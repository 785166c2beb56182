import { expect, test } from 'vitest'
import type { Config } from '../config.ts'
import { applyDefaults } from './limits.ts'

const config = { TRAINYARD_DEFAULT_REQUESTS_PER_MINUTE: 60, TRAINYARD_DEFAULT_QUEUED_JOBS: 5 } as Config

test('what is set for an entity counts, else the default, else there is no limit', () => {
  const set = {
    requestsPerMinute: null,
    concurrentStreams: null,
    queuedJobs: 0,
    storedBytes: 7,
    payloadDays: null,
    tokenStatistics: null,
  }
  expect(applyDefaults(set, config)).toEqual({
    requestsPerMinute: 60,
    concurrentStreams: null,
    queuedJobs: 0,
    storedBytes: 7,
    payloadDays: null,
    tokenStatistics: 'sampled',
  })
})
