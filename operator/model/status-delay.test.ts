import { expect, test } from 'vitest'
import { planStatusDelay } from './status-delay.ts'
import type { ModelStatus } from './status.ts'

const status = (changes: Partial<ModelStatus> = {}, accepted: 'True' | 'False' = 'True'): ModelStatus => ({
  observedGeneration: 1,
  latestStep: 1,
  conditions: [{ type: 'Accepted', status: accepted, reason: 'A', message: '', lastTransitionTime: '' }],
  ...changes,
})
const atOnce = { settleMs: 0, intervalMs: 0 }

test.each<[string, ModelStatus | undefined, ModelStatus, object]>([
  ['the first status is written at once', undefined, status(), atOnce],
  ['so is the answer to a change of the spec', status(), status({ observedGeneration: 2 }), atOnce],
  ['and that it is accepted', status({}, 'False'), status(), atOnce],
  ['another step waits for others', status(), status({ latestStep: 2 }), { settleMs: 2_000, intervalMs: 5_000 }],
])('%s', (_, before, after, delay) => {
  expect(planStatusDelay(before, after)).toEqual(delay)
})
