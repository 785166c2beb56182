import { Type } from 'typebox'
import { expect, test } from 'vitest'
import { readConfig } from '../../../lib/config.ts'
import { applyDefaults } from './limits.ts'
import { limitSettings } from './settings.ts'

const nothing = {
  requestsPerMinute: null,
  tokensPerMinute: null,
  concurrentStreams: null,
  eventStreams: null,
  queuedJobs: null,
  storedBytes: null,
  gpuSecondsPerDay: null,
  payloadDays: null,
  runDays: null,
  weight: null,
  tokenStatistics: null,
  traceProject: null,
}
const load = (env: Record<string, string>) => readConfig(Type.Object(limitSettings), env)

test('without settings, the defaults limit every entity', () => {
  expect(applyDefaults(nothing, load({}))).toEqual({
    requestsPerMinute: 60_000,
    tokensPerMinute: Infinity,
    concurrentStreams: 2_048,
    eventStreams: 2_048,
    queuedJobs: 20_000,
    storedBytes: 1_099_511_627_776,
    gpuSecondsPerDay: Infinity,
    payloadDays: Infinity,
    runDays: Infinity,
    weight: 1,
    tokenStatistics: 'sampled',
    traceProject: 'off',
  })
})

test("an entity's own limit counts, otherwise the default, which may be unlimited", () => {
  const config = load({
    TRAINYARD_DEFAULT_REQUESTS_PER_MINUTE: '60',
    TRAINYARD_DEFAULT_STORED_BYTES: 'none',
    TRAINYARD_DEFAULT_GPU_SECONDS_PER_DAY: '86400',
    TRAINYARD_DEFAULT_WEIGHT: '2.5',
  })
  const set = { ...nothing, queuedJobs: 0, concurrentStreams: Infinity }
  expect(applyDefaults(set, config)).toMatchObject({
    requestsPerMinute: 60,
    concurrentStreams: Infinity,
    queuedJobs: 0,
    storedBytes: Infinity,
    gpuSecondsPerDay: 86_400,
    weight: 2.5,
  })
})

test('a default that is not a limit is rejected', () => {
  expect(() => load({ TRAINYARD_DEFAULT_QUEUED_JOBS: 'many' })).toThrow('TRAINYARD_DEFAULT_QUEUED_JOBS')
})
