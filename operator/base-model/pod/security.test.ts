import { expect, test } from 'vitest'
import { diffPodSecurity, explainRejectedPods } from './security.ts'

const fields = 'restricted volume types (volume "more" uses restricted volume type "hostPath")'
const rejected = {
  reason: 'FailedCreate',
  message: `pods "tiny-engine-1" is forbidden: violates PodSecurity "restricted:latest": ${fields}`,
}

test('pods that break the standard of their namespace are told with their fields, and with what to change', () => {
  const { reason, message } = explainRejectedPods(rejected)
  expect(reason).toBe('PodSecurityViolation')
  expect(message).toContain('Pod Security Standard restricted:latest')
  expect(message).toContain(fields)
  expect(message).toContain('Change its podTemplate')
})

test('other rejections stay as they are', () => {
  const quota = { reason: 'Forbidden', message: 'exceeded quota' }
  expect(explainRejectedPods(quota)).toEqual(quota)
})

test('there is one event when pods begin to break the standard', () => {
  const broken = explainRejectedPods(rejected)
  expect(diffPodSecurity({ reason: 'Ready' }, broken)).toEqual([{ type: 'Warning', ...broken }])
  expect(diffPodSecurity({ ...broken, message: 'of another pod' }, broken)).toEqual([])
  expect(diffPodSecurity(broken, { reason: 'Ready' })).toEqual([])
})
