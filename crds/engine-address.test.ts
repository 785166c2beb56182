import { expect, test } from 'vitest'
import { engineOrigin } from './engine-address.ts'

test.each([
  ['10.0.0.7', 'http://10.0.0.7:8000'],
  ['fd00::1', 'http://[fd00::1]:8000'],
])('the engine of a pod at %s', (ip, origin) => {
  expect(engineOrigin(ip)).toBe(origin)
})
