import { statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { createRegistry } from '../../lib/metrics/registry.ts'
import { registerStoreMetrics } from './register-store.ts'
import { operatorMetrics } from './table.ts'

async function read(address: string) {
  const registry = createRegistry()
  registerStoreMetrics(registry, address)
  const metrics = await registry.getMetricsAsJSON()
  return metrics.find(({ name }) => name === operatorMetrics.gauges.storeBytes.name)!.values
}

test('a store in a folder has its free and its used room', async () => {
  const { bsize, blocks } = await statfs(tmpdir())
  const values = await read(tmpdir())
  expect(values.map(({ labels }) => labels)).toEqual([{ state: 'free' }, { state: 'used' }])
  expect(values[0]!.value + values[1]!.value).toBe(blocks * bsize)
})

test.each(['s3://bucket', '/does/not/exist'])('%s has no numbers, and hides no others', async (address) => {
  expect(await read(address)).toEqual([])
})
