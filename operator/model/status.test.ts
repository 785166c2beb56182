import { expect, test } from 'vitest'
import { modelResource, modelRow } from '../../test/support/model-objects.ts'
import type { EngineContainer } from '../../db/engines/loaded-adapters.ts'
import type { EngineReport } from '../../db/models/resources.ts'
import type { Keeping } from './adapter-conditions.ts'
import { diffModelEvents } from './model-events.ts'
import { describeModel, type ModelContext } from './status.ts'

const container = (podName: string): EngineContainer => ({ podName, podUid: `${podName}-uid`, containerStart: 'noon' })
const engines = [container('a'), container('b')]
const keeping: Keeping = { isKept: true, maxKept: 16, maxAdapters: 32 }
const row = { ...modelRow, latestStep: 3, checkpoints: 3, newestCheckpoint: 'c3' }
const loaded = (podName: string): EngineReport => ({ ...container(podName), error: null })
const refused = (podName: string): EngineReport => ({ ...container(podName), error: 'the engine answered 400' })

const describe = (engineReports: EngineReport[], context: Partial<ModelContext> = {}, checkpoints = 3) =>
  describeModel(
    modelResource,
    { ...row, checkpoints, engineReports },
    { engines, isScaledToZero: false, keeping: undefined, unapplied: [], now: new Date(0), ...context },
  )
const find = (type: string, ...args: Parameters<typeof describe>) =>
  describe(...args).conditions?.find((condition) => condition.type === type)

test('a model whose newest step no engine refuses is not Degraded', () => {
  expect(find('Degraded', [loaded('a')])).toMatchObject({ status: 'False', reason: 'ServesNewestStep' })
  expect(describe([]).reason).toBe('Ready')
})

test('a model whose newest step an engine cannot load is Degraded, and says which and why', () => {
  expect(find('Degraded', [loaded('a'), refused('b')])).toMatchObject({
    status: 'True',
    reason: 'AdapterNotLoaded',
    message:
      'Step 3 is not served by 1 of 2 engines. b: the engine answered 400. ' +
      "The engine's log says why. It is tried again each minute.",
  })
  expect(describe([refused('b')]).reason).toBe('AdapterNotLoaded')
})

test('what a container has said before it started again, or while its pod is not ready, does not count', () => {
  const reports = [{ ...refused('a'), containerStart: 'morning' }, loaded('b'), loaded('gone')]
  expect(describe(reports).engines).toEqual({ ready: 2, loaded: 1, summary: '1/2' })
  expect(find('Degraded', reports)).toMatchObject({ status: 'False' })
})

test.each<[string, Parameters<typeof describe>, object]>([
  ['every engine has it', [[loaded('a'), loaded('b')]], { status: 'True', reason: 'Loaded' }],
  ['one has it', [[loaded('a')]], { status: 'False', reason: 'LoadedOnDemand' }],
  ['one has it, and it is kept loaded', [[loaded('a')], { keeping }], { status: 'False', reason: 'Loading' }],
  ['one refuses it', [[loaded('a'), refused('b')]], { status: 'False', reason: 'AdapterNotLoaded' }],
  ['no engine is ready', [[], { engines: [] }], { status: 'False', reason: 'EngineNotReady' }],
  ['there is no step', [[], {}, 0], { status: 'True', reason: 'NoCheckpoint' }],
])('AdaptersLoaded when %s', (_, args, expected) => {
  expect(find('AdaptersLoaded', ...args)).toMatchObject({ ...expected, observedGeneration: 2 })
})

test('a model with keepLoaded beyond the limit says what the limit is', () => {
  expect(find('KeptLoaded', [])).toBeUndefined()
  expect(find('KeptLoaded', [], { keeping })).toMatchObject({ status: 'True', reason: 'KeptLoaded' })
  expect(find('KeptLoaded', [], { keeping: { ...keeping, isKept: false } })).toMatchObject({
    status: 'False',
    reason: 'KeepLoadedLimit',
    message:
      '16 other models of trainyard/tiny are kept loaded, which is the limit: half of engine.maxCpuLoras, 32. ' +
      'Raise it in the BaseModel, or set keepLoaded of another model to false.',
  })
})

test('a model whose engines are scaled to zero is Ready, because the next chat starts one', () => {
  const readyOf = (isScaledToZero: boolean) => find('Ready', [], { engines: [], isScaledToZero })
  expect(readyOf(true)).toMatchObject({ status: 'True', reason: 'ScaledToZero' })
  expect(readyOf(false)).toMatchObject({ status: 'False', reason: 'EngineNotReady' })
})

test('it has an event when it becomes Degraded, and when it was accepted', () => {
  const reasonsOf = (from: EngineReport[] | undefined, to: EngineReport[]) =>
    diffModelEvents(from && describe(from), describe(to)).map(({ type, reason }) => `${type} ${reason}`)
  expect(reasonsOf(undefined, [])).toEqual(['Normal Accepted'])
  expect(reasonsOf([], [refused('a')])).toEqual(['Warning AdapterNotLoaded'])
})
