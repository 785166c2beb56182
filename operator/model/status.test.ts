import { expect, test } from 'vitest'
import { modelResource, modelRow } from '../../test/support/model-objects.ts'
import { diffModelEvents } from './model-events.ts'
import { describeModel } from './status.ts'

const row = { ...modelRow, latestStep: 3, checkpoints: 3 }
const context = { readyEngines: 1, isScaledToZero: false, unapplied: [], now: new Date(0) }
const describe = (loadError: string | null) => describeModel(modelResource, { ...row, loadError }, context)
const findDegraded = (loadError: string | null) =>
  describe(loadError).conditions?.find(({ type }) => type === 'Degraded')

test('a model whose newest step the engines load is not Degraded', () => {
  expect(findDegraded(null)).toMatchObject({ status: 'False', reason: 'ServesNewestStep' })
  expect(describe(null).reason).toBe('Ready')
})

test('a model whose newest step no engine can load is Degraded, and says why', () => {
  expect(findDegraded('the engine answered 400: too much')).toMatchObject({
    status: 'True',
    reason: 'AdapterNotLoaded',
    message:
      "Step 3 is not served: the engine answered 400: too much. The engine's log says why. It is tried again each minute.",
  })
  expect(describe('x').reason).toBe('AdapterNotLoaded')
})

test('a model whose engines are scaled to zero is Ready, because the next chat starts one', () => {
  const readyOf = (isScaledToZero: boolean) =>
    describeModel(modelResource, row, { ...context, readyEngines: 0, isScaledToZero }).conditions?.find(
      ({ type }) => type === 'Ready',
    )
  expect(readyOf(true)).toMatchObject({ status: 'True', reason: 'ScaledToZero' })
  expect(readyOf(false)).toMatchObject({ status: 'False', reason: 'EngineNotReady' })
})

test('it has an event when it becomes Degraded, and when it was accepted', () => {
  const reasonsOf = (from: string | null | undefined, to: string | null) =>
    diffModelEvents(from === undefined ? undefined : describe(from), describe(to)).map(
      ({ type, reason }) => `${type} ${reason}`,
    )
  expect(reasonsOf(undefined, null)).toEqual(['Normal Accepted'])
  expect(reasonsOf(null, 'x')).toEqual(['Warning AdapterNotLoaded'])
  expect(reasonsOf('x', 'x')).toEqual([])
  expect(reasonsOf('x', null)).toEqual([])
})
