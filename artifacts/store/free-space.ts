import { statfs } from 'node:fs/promises'
import { StoreFailed } from './failed.ts'

// Spool files must not fill the disk: on one machine, the store itself and Postgres are on it too.
const reservedPart = 0.05
const reservedBytes = 1024 ** 3

interface Disk {
  bsize: number
  blocks: number
  bavail: number
}

/** Whether a disk has more free space than its reserve: 5 % of the disk, at most 1 GiB. */
export function hasRoom({ bsize, blocks, bavail }: Disk): boolean {
  return bavail * bsize > Math.min(reservedPart * blocks * bsize, reservedBytes)
}

/** @throws {StoreFailed} when a folder's disk has no more than its reserve */
export async function requireRoom(folder: string): Promise<void> {
  if (!hasRoom(await statfs(folder))) throw new StoreFailed('no space for uploads: the rest of the disk is reserved')
}
