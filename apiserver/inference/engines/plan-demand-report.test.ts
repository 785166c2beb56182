import { expect, test } from 'vitest'
import { planDemandReport, type ReportedDemand } from './plan-demand-report.ts'

/** Plans each second's peak after the one before it. Returns the reports of each second. */
function reportAll(peaks: number[]) {
  let known = new Map<string, ReportedDemand>()
  return peaks.map((peak, second) => {
    const plan = planDemandReport(known, new Map(peak > 0 ? [['tiny', peak]] : []), second * 1_000)
    known = plan.known
    return plan.report.map(({ requests, isNew }) => `${requests}${isNew ? ' new' : ''}`).join()
  })
}

test('the first requests are reported at once, as new', () => {
  expect(reportAll([0, 1])).toEqual(['', '1 new'])
})

test('more requests are reported at once, and equally many or fewer each five seconds', () => {
  expect(reportAll([1, 5, 5, 2, 2, 2, 3, 1, 1])).toEqual(['1 new', '5', '', '', '', '', '5', '', ''])
})

test('a chat between two looks is not forgotten', () => {
  expect(reportAll([1, 0, 0, 1, 0, 0, 0, 0])).toEqual(['1 new', '', '', '', '', '1', '', ''])
})

test('without requests nothing is reported, and the next one is new again', () => {
  expect(reportAll([1, 0, 0, 0, 0, 0, 0, 1])).toEqual(['1 new', '', '', '', '', '', '', '1 new'])
})
