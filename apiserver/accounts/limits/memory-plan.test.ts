import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { memoryPlan } from './memory-plan.ts'

const mib = 1024 * 1024

test('the memory plan fits into the memory of a pod in the chart', () => {
  const { requests, heavyThreads, smallThreads, schemaThreads, connections, program } = memoryPlan
  const threads = [heavyThreads, smallThreads, schemaThreads].map(
    ({ threads: count, heapMib, youngMib, offHeapMib }) => count * (heapMib + youngMib + offHeapMib) * mib,
  )
  const parts = [requests.bytes, program.bytes, connections.most * connections.bytesEach, ...threads]
  const values = parse(readFileSync(new URL('../../../helm/trainyard/values.yaml', import.meta.url), 'utf8')) as {
    apiserver: { resources: { limits: { memory: string } } }
  }
  expect(values.apiserver.resources.limits.memory).toBe('2Gi')
  expect(parts.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThanOrEqual(2_048 * mib)
})
