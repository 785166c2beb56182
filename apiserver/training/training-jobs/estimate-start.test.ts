import { describe, expect, test } from 'vitest'
import type { StartEvidence } from '../../../db/jobs/start-evidence.ts'
import { estimateStart, type WaitingJob } from './estimate-start.ts'

const past = (...totals: number[]) => totals.map((total) => ({ start: 30, training: total - 10, total }))
const nothing: StartEvidence = { ofModel: [], ofBaseModel: [], running: [], activeSeconds: null, firstSeconds: 0 }
const known = { ofBaseModel: past(110, 100, 120) }
const estimate = (job: Partial<WaitingJob>, evidence: Partial<StartEvidence>) =>
  estimateStart({ mode: 'Warm', ahead: 0, position: 1, others: 0, ...job }, { ...nothing, ...evidence })

describe('the first job of a model', () => {
  test.each<[string, Partial<WaitingJob>, Partial<StartEvidence>, number | undefined]>([
    ['starts when the only trainer is free', {}, { running: [40] }, 60],
    ['starts when the first of two trainers is free', {}, { running: [10, 40] }, 60],
    ['lets the jobs before it go first', { position: 4 }, { running: [10, 40] }, 90 + 100],
    ['does not count on a job that takes longer than all past ones', { position: 2 }, { running: [10, 500] }, 90 + 100],
    ['expects of a long job what longer ones took', {}, { running: [105] }, 5],
    ['says nothing while no trainer works', {}, {}, undefined],
    ['says nothing while every trainer is late', {}, { running: [500] }, undefined],
  ])('%s', (_, job, evidence, seconds) => {
    expect(estimate(job, { ...known, ...evidence })).toBe(seconds)
  })

  test('says nothing with less than three past jobs', () => {
    expect(estimate({}, { running: [0], ofBaseModel: past(10, 20) })).toBeUndefined()
  })
})

describe('a job behind others of its model', () => {
  test.each<[string, Partial<WaitingJob>, Partial<StartEvidence>, number | undefined]>([
    ['starts when the active one ends', { ahead: 1 }, { activeSeconds: 50, running: [50] }, 60],
    ['waits for each of them', { ahead: 3 }, { activeSeconds: 50, running: [50] }, 60 + 2 * 110],
    ['and each waits for trainers', { ahead: 2, others: 4 }, { activeSeconds: 50, running: [50, 60] }, 60 + 310 + 200],
    ['waits for the first one to start', { ahead: 1 }, { running: [40] }, 60 + 110],
    [
      'knows nothing while the first one waits for no trainer',
      { ahead: 1, position: null },
      { running: [40] },
      undefined,
    ],
    ['says nothing when the active one is late', { ahead: 1 }, { activeSeconds: 500, running: [500] }, undefined],
  ])('%s', (_, job, evidence, seconds) => {
    expect(estimate(job, { ...known, ...evidence })).toBe(seconds)
  })

  test('expects of its model what that took before, if three jobs tell', () => {
    const evidence = { ...known, activeSeconds: 100, running: [100] }
    expect(estimate({ ahead: 1 }, { ...evidence, ofModel: past(900, 1000, 1100) })).toBe(900)
    expect(estimate({ ahead: 1 }, { ...evidence, ofModel: past(900, 1000) })).toBe(15)
  })
})

describe('a job with pods of its own', () => {
  test('starts as fast as past ones did, and no trainer matters', () => {
    expect(estimate({ mode: 'Dedicated', position: 7 }, { ...known, firstSeconds: 12, running: [1] })).toBe(18)
    expect(estimate({ mode: 'Dedicated' }, { ...known, firstSeconds: 31 })).toBeUndefined()
  })

  test('behind others of its model, each of which needs pods too', () => {
    const evidence = { ...known, activeSeconds: 50 }
    expect(estimate({ mode: 'Dedicated', ahead: 2 }, evidence)).toBe(60 + 30 + 110 + 30)
  })
})
