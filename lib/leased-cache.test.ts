import { expect, test, vi } from 'vitest'
import { noLease, permanentLease } from '../test/support/leases.ts'
import { LeasedCache } from './leased-cache.ts'

const loaded = (value: object, ...tags: string[]) => ({ value, owner: 'ours', tags })

/** A load that ends when the test says so. */
function slowLoad(value: object, ...tags: string[]) {
  const { promise, resolve } = Promise.withResolvers<ReturnType<typeof loaded>>()
  return { load: () => promise, end: () => resolve(loaded(value, ...tags)) }
}

test('a loaded value is available without a promise, until it is dropped', async () => {
  const cache = new LeasedCache<object>(permanentLease, 10)
  const value = {}
  expect(await cache.get('a', async () => loaded(value, 'tag'))).toBe(value)
  expect(await cache.get('a', () => Promise.reject(new Error('not asked')))).toBe(value)
  expect(cache.peek('a')).toBe(value)
  cache.drop('other')
  expect(cache.peek('a')).toBe(value)
  cache.drop('tag')
  expect(cache.peek('a')).toBeUndefined()
})

test('a value without an owner, or one that could not be loaded, is not cached', async () => {
  const cache = new LeasedCache<object>(permanentLease, 10)
  await cache.get('a', async () => ({ value: {} }))
  await expect(cache.get('b', () => Promise.reject(new Error('away')))).rejects.toThrow('away')
  expect([cache.peek('a'), cache.peek('b')]).toEqual([undefined, undefined])
})

test.each([
  ['its tag is dropped', (cache: LeasedCache<object>) => cache.drop('tag'), false],
  ['another tag is dropped', (cache: LeasedCache<object>) => cache.drop('other'), true],
  ['everything is dropped', (cache: LeasedCache<object>) => cache.clear(), false],
  [
    'its tag is dropped before very many others',
    (cache: LeasedCache<object>) =>
      ['tag', ...Array.from({ length: 100 }, (_, i) => `${i}`)].map((tag) => cache.drop(tag)),
    false,
  ],
])('a value during whose load %s', async (_, drop, isKept) => {
  const cache = new LeasedCache<object>(permanentLease, 10)
  const slow = slowLoad({ is: 'old' }, 'tag')
  const waiting = cache.get('a', slow.load)
  drop(cache)
  slow.end()
  expect(await waiting).toEqual({ is: 'old' })
  expect(cache.peek('a') !== undefined).toBe(isKept)
})

test('during another load, a drop from before a load does not count', async () => {
  const cache = new LeasedCache<object>(permanentLease, 10)
  const other = slowLoad({})
  const waiting = cache.get('other', other.load)
  cache.drop('tag')
  await cache.get('a', async () => loaded({}, 'tag'))
  expect(cache.peek('a')).toEqual({})
  other.end()
  await waiting
})

test('without a lease every caller gets a value whose load began after the call', async () => {
  const cache = new LeasedCache<object>(noLease, 10)
  const first = slowLoad({ is: 1 }, 'tag')
  const load = vi.fn<() => Promise<ReturnType<typeof loaded>>>(async () => loaded({ is: 2 }, 'tag'))
  const waiting = [cache.get('a', first.load), cache.get('a', load), cache.get('a', load), cache.get('a', load)]
  first.end()
  expect(await Promise.all(waiting)).toEqual([{ is: 1 }, { is: 2 }, { is: 2 }, { is: 2 }])
  expect(load).toHaveBeenCalledTimes(1)
  expect(cache.peek('a')).toBeUndefined()
})

test('an expired lease is renewed before a value is used', async () => {
  let isValid = false
  const renew = vi.fn<() => Promise<boolean>>(async () => (isValid = true))
  const cache = new LeasedCache<object>({ isValid: () => isValid, renew }, 10)
  await cache.get('a', async () => loaded({ is: 1 }))
  expect(renew).not.toHaveBeenCalled()
  expect(await cache.get('a', async () => loaded({ is: 2 }))).toEqual({ is: 1 })
})
