import { expect, test } from 'vitest'
import { countGpus, requestGpus } from './gpus.ts'

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
