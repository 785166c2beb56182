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
  /** Removes what nobody reads from an object, to save memory. */
  compact?: (object: T) => T
  /** How many objects one request lists. */
  pageSize?: number
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

const defaultBackoff: Backoff = { baseMs: 200, maxMs: 5_000 }
const defaultOptions = { selector: {}, keyOf: nameOf, pageSize: 500, relistMs: 300_000, backoff: defaultBackoff }
// Short, because a silently broken connection is only detected after this time.
const watchSeconds = 60
const watchGraceMs = 5_000

/**
 * Caches all objects of one kind, or those of a selector, and keeps them up to date by list and watch.
 *
 * It never stops by itself. After an error it goes on from the version that it has reached, with a growing delay, and lists
 * again only if the server no longer has that version. The objects are shared: do not change them.
 */
export class Reflector<T extends KubeObject> {
  readonly #options: Required<ReflectorOptions<T>>
  readonly #stop = new AbortController()
  readonly #synced = Promise.withResolvers<void>()
  #objects = new Map<string, T>()
  /** The version that the cache has; undefined if it must be listed. */
  #reached: string | undefined
  #relistAt = 0
  #heardAt = -Infinity
  #restarts = 0
  #trouble: string | undefined = 'it was not listed yet'
  #running: Promise<void> = Promise.resolve()

  constructor(options: ReflectorOptions<T>) {
    this.#options = { ...defaultOptions, compact: (object) => object, ...options }
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

  /** How often a list or a watch has failed. */
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
        // The server has answered that it cannot go on from there. A broken connection says nothing about that.
        if (error instanceof KubeError) this.#reached = undefined
        this.#trouble = error instanceof Error ? error.message : String(error)
        log.warn({ path, error }, 'watch interrupted')
        await delay(backoffMs(failures, backoff), undefined, { signal }).catch(() => {})
      }
    }
  }

  async #listAndWatch(): Promise<void> {
    this.#reached ??= await this.#list()
    while (performance.now() < this.#relistAt && !this.#stop.signal.aborted) await this.#watch(this.#reached)
    this.#reached = undefined
  }

  async #list(): Promise<string> {
    const { keyOf, relistMs, selector, pageSize } = this.#options
    const objects = new Map<string, T>()
    const query: Record<string, string> = { limit: String(pageSize), ...selector }
    for (;;) {
      const list = await this.#readPage(query)
      for (const item of list.items) objects.set(keyOf(item), this.#complete(item))
      if (!list.metadata.continue) {
        this.#replace(objects)
        this.#relistAt = performance.now() + relistMs * (0.8 + Math.random() * 0.4)
        this.#trouble = undefined
        this.#synced.resolve()
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

  /** Follows one watch until the server ends it. */
  async #watch(from: string): Promise<void> {
    const { client, path, selector } = this.#options
    const query = { resourceVersion: from, allowWatchBookmarks: 'true', timeoutSeconds: String(watchSeconds) }
    const limit = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(watchSeconds * 1000 + watchGraceMs)])
    const events = await client.watch<T>(path, { ...query, ...selector }, limit)
    this.#trouble = undefined
    for await (const event of events) {
      this.#heardAt = performance.now()
      if (event.type === 'ERROR') throw toError(path, event.object)
      this.#reached = event.object.metadata.resourceVersion ?? this.#reached
      this.#apply(event)
    }
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
    const { kind, apiVersion, compact } = this.#options
    const { managedFields: _, ...metadata } = item.metadata
    return compact({ ...item, kind, apiVersion, metadata })
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
