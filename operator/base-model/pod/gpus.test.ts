import { expect, test } from 'vitest'
import { allocatorEnv, countGpus, parallelArgs, requestGpus } from './gpus.ts'

test.each<[string, Parameters<typeof requestGpus>[0], ReturnType<typeof requestGpus>]>([
  ['without GPUs: none are requested', { resources: { limits: { memory: '8Gi' } } }, {}],
  ['only gpus: this number of the default kind', { gpus: 2 }, { resources: { limits: { 'nvidia.com/gpu': 2 } } }],
  [
    'gpus and other resources: both are requested',
    { gpus: 1, resources: { requests: { memory: '4Gi' }, limits: { memory: '8Gi', 'rdma/hca': 1 } } },
    {
      resources: { requests: { memory: '4Gi' }, limits: { memory: '8Gi', 'rdma/hca': 1, 'nvidia.com/gpu': 1 } },
    },
  ],
  ['GPUs of another kind are named: these are requested', { gpus: 2, resources: { limits: { 'amd.com/gpu': 2 } } }, {}],
  [
    'parts of GPUs are named: these are requested',
    { gpus: 2, resources: { limits: { 'nvidia.com/mig-1g.5gb': 2 } } },
    {},
  ],
  ['zero GPUs are named: processes on CPUs', { gpus: 2, resources: { requests: { 'nvidia.com/gpu': 0 } } }, {}],
])('%s', (_, trainer, expected) => {
  expect(requestGpus(trainer)).toEqual(expected)
})

test.each<[string, Record<string, number | string>, number | undefined]>([
  ['one kind', { 'nvidia.com/gpu': 2 }, 2],
  ['a count as text', { 'amd.com/gpu': '1' }, 1],
  ['parts of a GPU', { 'nvidia.com/mig-1g.5gb': 1 }, 1],
  ['none of a kind', { 'nvidia.com/gpu': 0 }, undefined],
  ['other resources', { memory: '8Gi', cpu: 4 }, undefined],
])('GPUs in limits are counted: %s', (_, limits, expected) => {
  expect(countGpus({ limits })).toBe(expected)
})

test.each<[string, Record<string, string | number> | undefined, string[], string[]]>([
  ['no resources', undefined, [], []],
  ['one GPU', { 'nvidia.com/gpu': 1 }, [], []],
  ['four GPUs', { 'nvidia.com/gpu': 4 }, ['--x'], ['--tensor-parallel-size', '4']],
  ['GPUs of another maker, as a text', { 'amd.com/gpu': '2' }, [], ['--tensor-parallel-size', '2']],
  ['parts of GPUs', { 'nvidia.com/mig-1g.5gb': 2 }, [], []],
  ['shared GPUs', { 'nvidia.com/gpu.shared': 2 }, [], []],
  ['an argument that divides them', { 'nvidia.com/gpu': 4 }, ['--pipeline-parallel-size=2'], []],
  ['a short argument that divides them', { 'nvidia.com/gpu': 4 }, ['-tp', '2'], []],
])('an engine uses all its GPUs: %s', (_, limits, args, expected) => {
  expect(parallelArgs(limits && { limits }, args)).toEqual(expected)
})

test.each<[string, Record<string, string | number> | undefined, boolean]>([
  ['no resources', undefined, false],
  ['a GPU', { 'nvidia.com/gpu': 1 }, true],
  ['a part of a GPU', { 'nvidia.com/mig-1g.5gb': '1' }, true],
  ['no GPU', { 'nvidia.com/gpu': 0, cpu: 4 }, false],
])('memory of GPUs is allocated in segments that grow: %s', (_, limits, expected) => {
  const env = expected ? [{ name: 'PYTORCH_ALLOC_CONF', value: 'expandable_segments:True' }] : []
  expect(allocatorEnv(limits && { limits })).toEqual(env)
})
