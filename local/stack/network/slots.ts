import { createHash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { withLock } from '../../entry/lock.mjs'
import { hasListenerIn, isPortFree } from './ports.ts'

/**
 * A slot separates the stacks of one machine. Each slot has two loopback networks (for Services and for pods) and a few
 * ports. The cache folder has a file for each used slot, with the path of its state folder. A slot is free when that
 * folder is gone. The folder is created before its settings, and the slot is used from then on.
 */
export interface Slot {
  /** First two octets of the Services' addresses: `127.4`. */
  serviceNetwork: string
  /** First two octets of the pods' addresses: `127.5`. */
  podNetwork: string
  ports: { kubernetes: number; kubelet: number; postgres: number; public: number }
}

/** Any program may use 127.0 and 127.1. The last two networks stay free. */
const slotCount = 126
// Linux gives the ports from 32768 on to outgoing connections, so these are below.
const firstPort = 20_000
const portsPerSlot = 8

/** Computes the networks and ports of a slot. */
export function describeSlot(slot: number): Slot {
  const port = firstPort + slot * portsPerSlot
  return {
    serviceNetwork: `127.${slot * 2}`,
    podNetwork: `127.${slot * 2 + 1}`,
    ports: { kubernetes: port, kubelet: port + 1, postgres: port + 2, public: port + 3 },
  }
}

/** How to check whether a slot is free: by its state folder, and by listeners in its networks. */
export interface SlotChecks {
  isInUse: (stateFolder: string) => boolean
  isQuiet?: (slot: number) => boolean | Promise<boolean>
}

/** Claims a free slot for a state folder, or returns its current slot. */
export async function claimSlot(cacheFolder: string, stateFolder: string, judge: SlotChecks): Promise<number> {
  const { isInUse, isQuiet = isSlotFree } = judge
  const notes = path.join(cacheFolder, 'slots')
  await mkdir(notes, { recursive: true })
  return withLock(notes, async () => {
    for (const slot of slotsInOrder(stateFolder)) {
      const note = path.join(notes, String(slot))
      const holder = await readFile(note, 'utf8').catch(() => '')
      if (holder && holder !== stateFolder && isInUse(holder)) continue
      if (holder !== stateFolder && !(await isQuiet(slot))) continue
      await writeFile(note, stateFolder)
      return slot
    }
    throw new Error(`all ${slotCount} slots for local stacks are in use; remove old state folders`)
  })
}

/**
 * Each state folder starts its search at another slot. Stacks of another user have another cache folder and do not see
 * these files. With the same start, they would claim the same slot while this stack is down.
 */
function slotsInOrder(stateFolder: string): number[] {
  const first = createHash('sha256').update(stateFolder).digest().readUInt32BE() % slotCount
  return Array.from({ length: slotCount }, (_, index) => ((first + index) % slotCount) + 1)
}

/** Whether no program listens in a slot's networks or on its ports. */
async function isSlotFree(slot: number): Promise<boolean> {
  const { serviceNetwork, podNetwork, ports } = describeSlot(slot)
  if (hasListenerIn(serviceNetwork) || hasListenerIn(podNetwork)) return false
  const free = await Promise.all(Object.values(ports).map((port) => isPortFree(port)))
  return free.every(Boolean)
}
