import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { prepareSettings } from './settings.ts'
import { claimSlot } from './network/slots.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'settings-'))
})
afterEach(() => rm(folder, { recursive: true }))

const alone = { isInUse: () => false, isQuiet: () => true }

/** A state folder whose search starts at the slot of another one. */
async function findRival(slot: number): Promise<string> {
  for (let number = 0; ; number++) {
    const rival = path.join(folder, `rival-${number}`)
    if ((await claimSlot(path.join(folder, 'nobody'), rival, alone)) === slot) return rival
  }
}

test('a stack that has written no settings yet keeps its slot', async () => {
  const [cacheFolder, first] = [path.join(folder, 'cache'), path.join(folder, 'first')]
  await mkdir(first)
  const slot = await claimSlot(cacheFolder, first, alone)
  const rival = await findRival(slot)
  await mkdir(rival)
  const settings = await prepareSettings({ cacheFolder, stateFolder: rival, port: 0 })
  expect(settings.slot).not.toBe(slot)
})
