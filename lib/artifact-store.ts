import { createHash, randomUUID } from 'node:crypto'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import path from 'node:path'

const scheme = 'artifact:///'
const keyPattern = /^[a-z0-9][a-zA-Z0-9._-]*(\/[a-zA-Z0-9][a-zA-Z0-9._-]*)*$/

/** A stored object: its address (`artifact:///KEY`), the sha256 of its bytes in hex, and its size in bytes. */
export interface StoredArtifact {
  uri: string
  digest: string
  size: number
}

/**
 * The artifact store on a folder that apiserver, trainers and engines share.
 *
 * Objects are immutable. One is written under a temporary name, synced and renamed, so that it is complete or absent.
 */
export class ArtifactStore {
  readonly root: string

  constructor(root: string) {
    this.root = root
  }

  /** Stores a payload of an entity under its digest; the same bytes twice are one object. */
  async putPayload(entity: string, bytes: Uint8Array): Promise<StoredArtifact> {
    const digest = createHash('sha256').update(bytes).digest('hex')
    const key = `payloads/${entity}/${digest}.json`
    await writeDurably(path.join(this.root, key), bytes)
    return { uri: scheme + key, digest, size: bytes.byteLength }
  }

  /** Writes and removes a small object; throws when the store takes no writes. */
  async probe(): Promise<void> {
    const file = path.join(this.root, 'payloads', `.probe-${randomUUID()}.tmp`)
    await writeDurably(file, Buffer.from('probe'))
    await rm(file, { force: true })
  }
}

/** The key of an `artifact:///KEY` address, or undefined when it is no such address. */
export function artifactKey(uri: string): string | undefined {
  if (!uri.startsWith(scheme)) return undefined
  const key = uri.slice(scheme.length)
  return keyPattern.test(key) && !key.includes('..') ? key : undefined
}

async function writeDurably(file: string, bytes: Uint8Array): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true })
  const temporary = `${file}.${randomUUID()}.tmp`
  try {
    const handle = await open(temporary, 'wx')
    try {
      await handle.writeFile(bytes)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(temporary, file)
    await syncFolder(path.dirname(file))
  } catch (cause) {
    await rm(temporary, { force: true })
    throw new Error('writing to the artifact store', { cause })
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
