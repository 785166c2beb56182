import { pino } from 'pino'
import { expect, test } from 'vitest'
import { eventually } from '../../test/support/eventually.ts'
import { LivePods } from './live-pods.ts'

const log = pino({ level: 'silent' })
const pod = { name: 'trainer-0', uid: 'a' }
const gone = 'the token is rejected: its pod is gone'

function openPods(read: () => string | undefined | Error) {
  const state = { now: 0, reads: 0 }
  const readUid = async () => {
    state.reads++
    const found = read()
    if (found instanceof Error) throw found
    return found
  }
  return { state, pods: new LivePods(readUid, log, () => state.now) }
}

test.each<[string, string | undefined]>([
  ['is gone', undefined],
  ['has a successor of the same name', 'b'],
])('a pod that %s is rejected', async (_name, uid) => {
  await expect(openPods(() => uid).pods.require(pod)).rejects.toThrow(gone)
})

test('a pod is looked up again after a while, and rejected when it has gone', async () => {
  let uid: string | undefined = 'a'
  const { state, pods } = openPods(() => uid)
  await Promise.all([pods.require(pod), pods.require(pod)])
  uid = undefined
  await pods.require(pod)
  expect(state.reads).toBe(1)
  state.now = 11_000
  await eventually(() => expect(pods.require(pod)).rejects.toThrow(gone))
  expect(state.reads).toBe(2)
})

test('while kube-apiserver does not answer, no pod is rejected', async () => {
  const { pods } = openPods(() => new Error('no answer'))
  expect(await pods.require(pod)).toBe(pod)
})
