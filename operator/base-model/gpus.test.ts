import { expect, test } from 'vitest'
import { requestGpus } from './gpus.ts'

test.each<[string, Parameters<typeof requestGpus>[0], ReturnType<typeof requestGpus>]>([
  ['no word of GPUs: nothing is asked for', { resources: { limits: { memory: '8Gi' } } }, {}],
  ['gpus alone: so many of the usual kind', { gpus: 2 }, { resources: { limits: { 'nvidia.com/gpu': 2 } } }],
  [
    'gpus beside other resources: they stay',
    { gpus: 1, resources: { requests: { memory: '4Gi' }, limits: { memory: '8Gi', 'rdma/hca': 1 } } },
    {
      resources: { requests: { memory: '4Gi' }, limits: { memory: '8Gi', 'rdma/hca': 1, 'nvidia.com/gpu': 1 } },
    },
  ],
  ['GPUs of another kind are named: those', { gpus: 2, resources: { limits: { 'amd.com/gpu': 2 } } }, {}],
  ['parts of GPUs are named: those', { gpus: 2, resources: { limits: { 'nvidia.com/mig-1g.5gb': 2 } } }, {}],
  ['none is named, on purpose: processes on CPUs', { gpus: 2, resources: { requests: { 'nvidia.com/gpu': 0 } } }, {}],
])('%s', (_, trainer, expected) => {
  expect(requestGpus(trainer)).toEqual(expected)
})
