import { setTimeout as delay } from 'node:timers/promises'
import { backoffMs, type Backoff } from '../backoff.ts'
import type { Logger } from '../log.ts'
import type { KubeObject } from './apply.ts'
import type { KubeClient, WatchEvent } from './client.ts'
import { KubeError } from './error.ts'

interface ReflectorOptions<T> {
  client: KubeClient
  /** The path of all objects of the kind, e.g. `/api/v1/namespaces/trainyard/pods`. */
  path: string
  /** The objects get this kind and apiVersion, because the items of a list have none. */
  kind: string
  apiVersion: string
  /** Selects objects of the kind: labelSelector, fieldSelector. */
  selector?: Record<string, string>
  /** The key for `get`. By default the object's name, if all are in one namespace. */
  keyOf?: (object: T) => string
  /** Called after the cache has changed, with each added, changed or deleted object, and as it was before. */
  onChange: (object: T, before?: T) => void
  log: Logger
  /** How often the full list is read again, in case an event was lost. */
  relistMs?: number
  /** The wait after failures. */
  backoff?: Backoff
}

interface List<T> {
  metadata: { resourceVersion: string; continue?: string }
  items: T[]
}

/** The cache of a reflector, for reading only. */
export type ObjectCache<T extends KubeObject> = Pick<Reflector<T>, 'get' | 'list'>

const pageSize = '500'
const defaultBackoff: Backoff = { baseMs: 200, maxMs: 5_000 }
// Short, because a silently broken connection is only detected after this time.
const watchSeconds = 60
const watchGraceMs = 5_000

/**
 * Caches all objects of one kind, or those of a selector, and keeps them up to date by list and watch.
 *
 * It never stops by itself. After an error it lists again, with a growing delay. A new list also shows deletions from
 * the time without a watch. The objects are shared: do not change them.
 */
export class Reflector<T extends KubeObject> {
  readonly #options: Required<ReflectorOptions<T>>
  readonly #stop = new AbortController()
  readonly #synced = Promise.withResolvers<void>()
  #objects = new Map<string, T>()
  #heardAt = -Infinity
  #restarts = 0
  #trouble: string | undefined = 'it was not listed yet'
  #running: Promise<void> = Promise.resolve()

  constructor(options: ReflectorOptions<T>) {
    this.#options = { selector: {}, keyOf: nameOf, relistMs: 300_000, backoff: defaultBackoff, ...options }
  }

  start(): void {
    this.#running = this.#run()
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  get kind(): string {
    return this.#options.kind
  }

  /** How often it had to list again after an error. */
  get restarts(): number {
    return this.#restarts
  }

  /** Resolves when the first list is complete. */
  get synced(): Promise<void> {
    return this.#synced.promise
  }

  /** Milliseconds since the last message from the server (a list, an event, a bookmark). */
  get ageMs(): number {
    return performance.now() - this.#heardAt
  }

  /** Why the cache has no list, or no newer one; undefined if the last list is complete. */
  get trouble(): string | undefined {
    return this.#trouble
  }

  get(key: string): T | undefined {
    return this.#objects.get(key)
  }

  list(): T[] {
    return [...this.#objects.values()]
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop
    const { log, path, backoff } = this.#options
    let failures = 0
    while (!signal.aborted) {
      const startedAt = performance.now()
      try {
        await this.#listAndWatch()
        failures = 0
      } catch (error) {
        if (signal.aborted) return
        // A watch that ran for longer than the longest wait had worked.
        failures = performance.now() - startedAt > backoff.maxMs ? 1 : failures + 1
        this.#restarts++
        this.#trouble = error instanceof Error ? error.message : String(error)
        log.warn({ path, error }, 'watch interrupted')
        await delay(backoffMs(failures, backoff), undefined, { signal }).catch(() => {})
      }
    }
  }

  async #listAndWatch(): Promise<void> {
    let resourceVersion = await this.#list()
    this.#trouble = undefined
    this.#synced.resolve()
    const relistAt = performance.now() + this.#options.relistMs * (0.8 + Math.random() * 0.4)
    while (performance.now() < relistAt && !this.#stop.signal.aborted) {
      resourceVersion = await this.#watch(resourceVersion)
    }
  }

  async #list(): Promise<string> {
    const objects = new Map<string, T>()
    const query: Record<string, string> = { limit: pageSize, ...this.#options.selector }
    for (;;) {
      const list = await this.#readPage(query)
      for (const item of list.items) objects.set(this.#options.keyOf(item), this.#complete(item))
      if (!list.metadata.continue) {
        this.#replace(objects)
        return list.metadata.resourceVersion
      }
      query['continue'] = list.metadata.continue
    }
  }

  async #readPage(query: Record<string, string>): Promise<List<T>> {
    const list = await this.#options.client.request<List<T>>({
      path: this.#options.path,
      query,
      signal: this.#stop.signal,
    })
    this.#heardAt = performance.now()
    return list
  }

  #replace(objects: Map<string, T>): void {
    const before = this.#objects
    this.#objects = objects
    for (const [key, object] of objects) {
      const earlier = before.get(key)
      const isSame = earlier?.metadata.resourceVersion === object.metadata.resourceVersion
      if (!isSame) this.#options.onChange(object, earlier)
    }
    for (const [key, object] of before) if (!objects.has(key)) this.#options.onChange(object)
  }

  /** Follows one watch until the server ends it. Returns the version that it reached. */
  async #watch(from: string): Promise<string> {
    const { client, path, selector } = this.#options
    const query = { resourceVersion: from, allowWatchBookmarks: 'true', timeoutSeconds: String(watchSeconds) }
    const limit = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(watchSeconds * 1000 + watchGraceMs)])
    let reached = from
    for await (const event of client.watch<T>(path, { ...query, ...selector }, limit)) {
      this.#heardAt = performance.now()
      if (event.type === 'ERROR') throw toError(path, event.object)
      reached = event.object.metadata.resourceVersion ?? reached
      this.#apply(event)
    }
    return reached
  }

  #apply(event: WatchEvent<T>): void {
    if (event.type === 'BOOKMARK') return
    const object = this.#complete(event.object)
    const key = this.#options.keyOf(object)
    const before = this.#objects.get(key)
    if (event.type === 'DELETED') this.#objects.delete(key)
    else this.#objects.set(key, object)
    // A deleted object is the same as before, and gone.
    this.#options.onChange(object, event.type === 'DELETED' ? undefined : before)
  }

  #complete(item: T): T {
    return { ...item, kind: this.#options.kind, apiVersion: this.#options.apiVersion }
  }
}

function nameOf(object: KubeObject): string {
  return object.metadata.name ?? ''
}

/** A watch reports in its stream that it cannot continue, mostly because its start version is too old (410). */
function toError(path: string, status: unknown): KubeError {
  const code = (status as { code?: number }).code ?? 500
  return new KubeError(`watching ${path}`, code, JSON.stringify(status))
}
