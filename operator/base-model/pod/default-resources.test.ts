import { expect, test } from 'vitest'
import { addRequests } from './default-resources.ts'

const cpu = expect.stringMatching(/^\d+m$/) as string
const memory = expect.stringMatching(/^\d+Mi$/) as string

test.each<[string, Parameters<typeof addRequests>[1], object]>([
  ['nothing is given', undefined, { requests: { cpu, memory } }],
  [
    'only a GPU is given',
    { limits: { 'nvidia.com/gpu': 1 } },
    { requests: { cpu, memory }, limits: { 'nvidia.com/gpu': 1 } },
  ],
  ['a request of memory is given', { requests: { memory: '4Gi' } }, { requests: { cpu, memory: '4Gi' } }],
  // A request above the limit would be rejected.
  ['a limit of memory is given', { limits: { memory: '1Mi' } }, { requests: { cpu }, limits: { memory: '1Mi' } }],
  ['both limits are given', { limits: { cpu: 1, memory: '1Gi' } }, { limits: { cpu: 1, memory: '1Gi' } }],
])('a container requests processor and memory if %s', (_, resources, expected) => {
  expect(addRequests(['engine'], resources)).toEqual(expected)
})

test('a container of engine and trainer requests the sum', () => {
  const memoryOf = (...components: Parameters<typeof addRequests>[0]) =>
    Number.parseInt(addRequests(components).requests?.['memory'] as string)
  expect(memoryOf('engine', 'trainer')).toBe(memoryOf('engine') + memoryOf('trainer'))
})
