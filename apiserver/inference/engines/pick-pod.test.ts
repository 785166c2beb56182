import { describe, expect, test } from 'vitest'
import { hashAffinity, hashText } from './affinity.ts'
import { pickPod, type PodLoad } from './pick-pod.ts'

const pod = (name: string, changes: Partial<PodLoad> = {}) => ({
  name,
  hash: hashText(name),
  inFlight: 0,
  maxInFlight: 100,
  hasAdapter: false,
  ...changes,
})
const prefixes = Array.from({ length: 3_000 }, (_, number) =>
  hashAffinity({ entity: 'acme', model: 'm', prefix: `chat ${number}` }),
)
const pickNames = (pods: ReturnType<typeof pod>[]) => prefixes.map((prefix) => pickPod(pods, prefix)?.name)

describe('among pods with equal loads', () => {
  const three = [pod('engine-a1b2'), pod('engine-c3d4'), pod('engine-e5f6')]

  test('a prefix always goes to the same pod, and prefixes are spread over all pods', () => {
    const picked = pickNames(three)
    expect(pickNames(three.toReversed())).toEqual(picked)
    for (const { name } of three) {
      const share = picked.filter((each) => each === name).length
      expect(share).toBeGreaterThan(800)
      expect(share).toBeLessThan(1_200)
    }
  })

  test('a pod that goes away moves only its own prefixes', () => {
    const [before, after] = [pickNames(three), pickNames(three.slice(1))]
    const moved = before.filter((name, index) => name !== after[index])
    expect(new Set(moved)).toEqual(new Set([three[0]!.name]))
  })

  test('a pod that has the adapter is chosen, and among several of them the prefix decides', () => {
    const [a, b, c] = [three[0]!, { ...three[1]!, hasAdapter: true }, { ...three[2]!, hasAdapter: true }]
    expect(new Set(pickNames([a, b, { ...c, hasAdapter: false }]))).toEqual(new Set([b.name]))
    expect(new Set(pickNames([a, b, c]))).toEqual(new Set([b.name, c.name]))
  })
})

describe('a busy pod', () => {
  test.each([
    ['keeps its prefixes with one request more than another', 1, 0, 'busy'],
    ['loses them with two more', 2, 0, 'idle'],
    ['keeps them with a quarter more', 51, 40, 'busy'],
    ['loses them with more than a quarter more', 52, 40, 'idle'],
    ['gets no requests when it is full, however busy the others are', 100, 99, 'idle'],
  ])('%s', (_, busy, idle, expected) => {
    const pods = [pod('busy', { inFlight: busy, hasAdapter: true }), pod('idle', { inFlight: idle })]
    expect(pickPod(pods, 1)?.name).toBe(expected)
  })

  test('has a bounded load, even if all requests have the same prefix', () => {
    const pods = [pod('a'), pod('b'), pod('c')]
    for (let sent = 0; sent < 90; sent++) pickPod(pods, prefixes[0]!)!.inFlight++
    const loads = pods.map(({ inFlight }) => inFlight)
    expect(Math.max(...loads)).toBeLessThanOrEqual(1.25 * Math.min(...loads) + 2)
  })

  test('that is full gets a request only if all are full', () => {
    const full = pod('full', { inFlight: 100, hasAdapter: true })
    expect(pickPod([full, pod('fuller', { inFlight: 200 })], 1)).toBe(full)
    expect(pickPod([full, pod('free', { inFlight: 99 })], 1)?.name).toBe('free')
    expect(pickPod([], 1)).toBeUndefined()
  })
})
