import type { Logger } from '../../lib/log.ts'
import { readObject, type KubeObject } from '../../lib/kube/apply.ts'
import type { KubeClient } from '../../lib/kube/client.ts'
import { podPath } from '../../lib/kube/paths.ts'
import { rejectToken, type CallingPod } from './auth.ts'

/** Reads the uid of the pod with a name; undefined if there is none. */
type ReadUid = (name: string) => Promise<string | undefined>

const freshMs = 10_000
// As many pods as one status server serves.
const maxPods = 10_000

export function createUidReader(client: KubeClient, namespace: string): ReadUid {
  return async (name) => (await readObject<KubeObject>(client, podPath(namespace, name)))?.metadata.uid
}

/**
 * Rejects pods that are gone: the signature of their token is good for up to an hour more. While kube-apiserver does not
 * answer, pods are taken to exist, because reports must not depend on it.
 */
export class LivePods {
  readonly #readUid: ReadUid
  readonly #log: Logger
  readonly #now: () => number
  /** When the pods of these uids were last looked up. */
  readonly #seen = new Map<string, number>()
  readonly #gone = new Set<string>()
  readonly #reading = new Map<string, Promise<void>>()

  constructor(readUid: ReadUid, log: Logger, now: () => number = Date.now) {
    this.#readUid = readUid
    this.#log = log
    this.#now = now
  }

  /** @throws {HttpError} 401 if the pod is gone. A known pod is looked up again in the background. */
  async require(pod: CallingPod): Promise<CallingPod> {
    const seenAt = this.#seen.get(pod.uid)
    if (seenAt === undefined) await this.#look(pod)
    else if (this.#now() - seenAt > freshMs) void this.#look(pod)
    if (this.#gone.has(pod.uid)) throw rejectToken('the token is rejected: its pod is gone')
    return pod
  }

  #look(pod: CallingPod): Promise<void> {
    const reading = this.#reading.get(pod.uid) ?? this.#lookOnce(pod).finally(() => this.#reading.delete(pod.uid))
    this.#reading.set(pod.uid, reading)
    return reading
  }

  async #lookOnce({ name, uid }: CallingPod): Promise<void> {
    try {
      // A uid is never used again.
      if ((await this.#readUid(name)) !== uid) this.#gone.add(uid)
    } catch (error) {
      this.#log.warn({ pod: name, error }, 'it is not known whether a pod exists')
    }
    this.#seen.set(uid, this.#now())
    for (const known of [this.#seen, this.#gone]) {
      const [oldest] = known.keys()
      if (known.size > maxPods && oldest !== undefined) known.delete(oldest)
    }
  }
}
