import { createObject, mergePatch } from '../../lib/kube/apply.ts'
import type { KubeClient } from '../../lib/kube/client.ts'
import { countedEventPath } from '../../lib/kube/paths.ts'
import type { Logger } from '../../lib/log.ts'

/** The object that an event is about. */
export interface EventSubject {
  kind: string
  namespace: string
  name: string
  uid: string
}

interface SentEvent {
  path: string
  count: number
}

// Limits of the events that are remembered, and of those that wait while kube-apiserver is unavailable.
const rememberedEvents = 500
const queuedEvents = 200
const maxMessageLength = 1000

/** Writes Kubernetes Events. A repeated event about the same object only increases a count. Never throws. */
export class Events {
  readonly #client: KubeClient
  readonly #nodeName: string
  readonly #log: Logger
  readonly #sent = new Map<string, SentEvent>()
  #queued = 0
  #tail: Promise<void> = Promise.resolve()

  constructor(client: KubeClient, nodeName: string, log: Logger) {
    this.#client = client
    this.#nodeName = nodeName
    this.#log = log
  }

  normal(subject: EventSubject, reason: string, message: string): void {
    this.#enqueue('Normal', subject, reason, message)
  }

  warn(subject: EventSubject, reason: string, message: string): void {
    this.#enqueue('Warning', subject, reason, message)
  }

  #enqueue(type: string, subject: EventSubject, reason: string, message: string): void {
    if (this.#queued >= queuedEvents) return
    this.#queued += 1
    this.#tail = this.#tail
      .then(() => this.#write(type, subject, reason, message.slice(0, maxMessageLength)))
      .catch((error: unknown) => this.#log.warn({ error, reason }, 'event not written'))
      .finally(() => (this.#queued -= 1))
  }

  async #write(type: string, subject: EventSubject, reason: string, message: string): Promise<void> {
    const key = JSON.stringify([type, subject.uid, reason, message])
    const now = new Date().toISOString().replace(/\.\d+Z$/, 'Z')
    const known = this.#sent.get(key)
    this.#sent.delete(key)
    if (known) {
      const again = { path: known.path, count: known.count + 1 }
      await mergePatch(this.#client, known.path, { count: again.count, lastTimestamp: now })
      this.#remember(key, again)
      return
    }
    const base = countedEventPath(subject.namespace)
    const name = `${subject.name}.${Date.now().toString(16)}${Math.random().toString(16).slice(2, 8)}`
    const words = this.#build(type, subject, { name, reason, message })
    const event = { ...words, firstTimestamp: now, lastTimestamp: now }
    await createObject(this.#client, base, event)
    this.#remember(key, { path: `${base}/${name}`, count: 1 })
  }

  #build(type: string, subject: EventSubject, words: { name: string; reason: string; message: string }) {
    return {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: words.name, namespace: subject.namespace },
      involvedObject: { apiVersion: 'v1', ...subject },
      type,
      reason: words.reason,
      message: words.message,
      count: 1,
      source: { component: 'kubelet', host: this.#nodeName },
      reportingComponent: 'kubelet',
      reportingInstance: this.#nodeName,
    }
  }

  #remember(key: string, event: SentEvent): void {
    this.#sent.set(key, event)
    const oldest = this.#sent.keys().next().value
    if (this.#sent.size > rememberedEvents && oldest !== undefined) this.#sent.delete(oldest)
  }
}
