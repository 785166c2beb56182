import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Addresses } from './addresses.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'trainyard-addresses-'))
})

afterEach(() => rm(folder, { recursive: true }))

async function open(): Promise<Addresses> {
  const addresses = new Addresses(folder, '127.9')
  await addresses.load()
  return addresses
}

test('each pod has its own address, also pods that are created at the same time', async () => {
  const addresses = await open()
  const taken = await Promise.all(['a', 'b', 'c'].map((uid) => addresses.allocate(uid)))
  expect(taken).toEqual(['127.9.0.2', '127.9.0.3', '127.9.0.4'])
})

test('an address survives a restart', async () => {
  const before = await open()
  await before.allocate('a')
  await before.allocate('b')
  const after = await open()
  expect([await after.allocate('b'), await after.allocate('c')]).toEqual(['127.9.0.3', '127.9.0.4'])
})

test('a released address is not used again at once', async () => {
  const addresses = await open()
  await addresses.allocate('a')
  await addresses.release('a')
  expect(await addresses.allocate('a')).toBe('127.9.0.3')
})
