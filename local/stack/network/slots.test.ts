import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { claimSlot, describeSlot } from './slots.ts'

// Ignores other programs on this machine.
const isQuiet = () => true

let cache: string
beforeEach(async () => {
  cache = await mkdtemp(path.join(os.tmpdir(), 'slots-'))
})
afterEach(() => rm(cache, { recursive: true }))

test('slots share no network and no port', () => {
  expect(describeSlot(1)).toEqual({
    serviceNetwork: '127.2',
    podNetwork: '127.3',
    ports: { kubernetes: 20_008, kubelet: 20_009, postgres: 20_010, public: 20_011 },
  })
  expect(describeSlot(126).podNetwork).toBe('127.253')
})

test('two state folders get two slots, and keep them', async () => {
  const first = await claimSlot(cache, '/a', { isInUse: () => true, isQuiet })
  const second = await claimSlot(cache, '/b', { isInUse: () => true, isQuiet })
  expect(second).not.toBe(first)
  expect(await claimSlot(cache, '/a', { isInUse: () => true, isQuiet })).toBe(first)
})

test('the slot of a removed state folder is used again', async () => {
  await mkdir(path.join(cache, 'slots'))
  for (let slot = 1; slot <= 126; slot++) await writeFile(path.join(cache, 'slots', String(slot)), `/stack-${slot}`)
  expect(await claimSlot(cache, '/b', { isInUse: (folder) => folder !== '/stack-77', isQuiet })).toBe(77)
  await expect(claimSlot(cache, '/c', { isInUse: () => true, isQuiet })).rejects.toThrow('all 126 slots')
})

test('a slot is skipped if a program listens in its networks', async () => {
  const first = await claimSlot(cache, '/a', { isInUse: () => true, isQuiet })
  await rm(path.join(cache, 'slots', String(first)))
  const isOther = (slot: number) => slot !== first
  expect(await claimSlot(cache, '/a', { isInUse: () => true, isQuiet: isOther })).not.toBe(first)
})
