import { patchStatus, type KubeObject } from './apply.ts'
import type { KubeClient } from './client.ts'
import { keyOf } from './objects.ts'

type WithStatus = KubeObject & { status?: object }

/**
 * Writes the statuses of one kind. It remembers what it has written until the cache of the kind has it, so that no status
 * is compared with an older one and written again, and knows the watch's events of its own writes.
 */
export class StatusWriter<T extends WithStatus> {
  readonly #client: KubeClient
  readonly #written = new Map<string, T>()

  constructor(client: KubeClient) {
    this.#client = client
  }

  /** A resource with its newest status: the cached one, or one that was written since. */
  findLatest(cached: T): T {
    const written = this.#written.get(keyOf(cached))
    return written && versionOf(written) > versionOf(cached) && isSameResource(written, cached)
      ? { ...cached, metadata: { ...cached.metadata, ...pickVersion(written) }, status: written.status }
      : cached
  }

  /** Writes the status if it differs from that of `seen`. Returns whether it was written. */
  async write(path: string, seen: T, status: NonNullable<T['status']>): Promise<boolean> {
    const written = await patchStatus(this.#client, path, seen, status)
    if (!written) return false
    const { status: kept } = written as T
    this.#written.set(keyOf(seen), { ...seen, metadata: { ...seen.metadata, ...pickVersion(written) }, status: kept })
    return true
  }

  /** Call it with each change that the watch has seen. Returns whether the change is a status of ours, and no more. */
  recognize(changed: KubeObject): boolean {
    const written = this.#written.get(keyOf(changed))
    if (!written || versionOf(changed) < versionOf(written)) return false
    this.#written.delete(keyOf(changed))
    return versionOf(changed) === versionOf(written)
  }
}

function isSameResource(one: KubeObject, other: KubeObject): boolean {
  return one.metadata.uid === other.metadata.uid
}

function pickVersion({ metadata: { resourceVersion } }: KubeObject) {
  return { ...(resourceVersion !== undefined && { resourceVersion }) }
}

/** Versions of one kind can be compared as numbers. */
function versionOf({ metadata }: KubeObject): number {
  return Number(metadata.resourceVersion)
}
