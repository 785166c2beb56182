import { expect, test } from 'vitest'
import { Batches } from './batches.ts'

/** Answers each request with its keys, and writes down what was asked. */
function makeBatches(maxKeys = 3) {
  const asked: { name: string; keys: string[]; signal: AbortSignal }[] = []
  const batches = new Batches(async (name, keys, signal) => {
    asked.push({ name, keys, signal })
    return keys.join()
  }, maxKeys)
  const get = (name: string, keys: string[], signal = new AbortController().signal) => batches.get(name, keys, signal)
  return { asked, get }
}

test('requests that are made together are one, for each name', async () => {
  const { asked, get } = makeBatches()
  expect(await Promise.all([get('a', ['x', 'y']), get('b', ['x']), get('a', ['y', 'z'])])).toEqual([
    'x,y,z',
    'x',
    'x,y,z',
  ])
  expect(asked).toHaveLength(2)
  expect(await get('a', ['x'])).toBe('x')
})

test('a request has no more keys than the server takes', async () => {
  const { get } = makeBatches(2)
  expect(await Promise.all([get('a', ['x', 'y']), get('a', ['z']), get('a', ['w'])])).toEqual(['x,y', 'z,w', 'z,w'])
})

test('a request is given up when all who asked have left, and not before', async () => {
  const { asked, get } = makeBatches()
  const [first, second] = [new AbortController(), new AbortController()]
  await Promise.all([get('a', ['x'], first.signal), get('a', ['y'], second.signal)])
  first.abort()
  expect(asked[0]!.signal.aborted).toBe(false)
  second.abort()
  expect(asked[0]!.signal.aborted).toBe(true)
})

test('an error reaches all who asked', async () => {
  const batches = new Batches<string>(() => Promise.reject(new Error('no answer')), 3)
  const { signal } = new AbortController()
  const found = await Promise.allSettled([batches.get('a', ['x'], signal), batches.get('a', ['y'], signal)])
  expect(found.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
})
