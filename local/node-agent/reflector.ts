import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../../lib/log.ts'
import { jitter, retryDelayMs } from './backoff.ts'
import { KubeError, type KubeClient, type KubeObject } from './kube.ts'

interface ReflectorOptions {
  client: KubeClient
  log: Logger
  path: string
  query?: Record<string, string>
  /** Called with the uid of every object that came, changed or went. */
  onChange: (uid: string) => void
}

interface ObjectList<T> {
  metadata: { resourceVersion: string }
  items: T[]
}

/**
 * A local copy of a list in kube-apiserver, by uid: list, then watch; whenever the watch ends or breaks, list again,
 * so that nothing that happened in between (deletions too) is missed.
 */
export class Reflector<T extends KubeObject> {
  private readonly objects = new Map<string, T>()
  private readonly stopping = new AbortController()
  private readonly firstList = Promise.withResolvers<void>()
  private readonly options: ReflectorOptions

  constructor(options: ReflectorOptions) {
    this.options = options
  }

  /** Starts reading; resolves after the first complete list. */
  async start(): Promise<void> {
    void this.run()
    await this.firstList.promise
  }

  stop(): void {
    this.stopping.abort()
  }

  get(uid: string): T | undefined {
    return this.objects.get(uid)
  }

  list(): T[] {
    return [...this.objects.values()]
  }

  private async run(): Promise<void> {
    let failures = 0
    while (!this.stopping.signal.aborted) {
      try {
        await this.follow(await this.relist())
        failures = 0
      } catch (error) {
        if (this.stopping.signal.aborted) return
        failures += 1
        this.options.log.warn({ path: this.options.path, error }, 'list or watch failed')
      }
      await sleep(jitter(retryDelayMs(failures)), undefined, { signal: this.stopping.signal }).catch(() => undefined)
    }
  }

  private async relist(): Promise<string> {
    const { client, path, query } = this.options
    const list = await client.get<ObjectList<T>>(path, query)
    const seen = new Set(list.items.map((item) => item.metadata?.uid))
    for (const item of list.items) this.put(item)
    for (const uid of this.objects.keys()) if (!seen.has(uid)) this.remove(uid)
    this.firstList.resolve()
    return list.metadata.resourceVersion
  }

  private async follow(resourceVersion: string): Promise<void> {
    const { client, path, query } = this.options
    const options = { ...query, watch: 'true', allowWatchBookmarks: 'true', resourceVersion }
    for await (const event of client.watch<T>(path, options, this.stopping.signal)) {
      if (event.type === 'ERROR') throw new KubeError(410, `watching ${path}: the server ended it with an error`)
      if (event.type === 'DELETED') this.remove(event.object.metadata?.uid ?? '')
      else if (event.type !== 'BOOKMARK') this.put(event.object)
    }
  }

  private put(object: T): void {
    const uid = object.metadata?.uid ?? ''
    const known = this.objects.get(uid)
    this.objects.set(uid, object)
    if (known?.metadata?.resourceVersion !== object.metadata?.resourceVersion) this.options.onChange(uid)
  }

  private remove(uid: string): void {
    if (this.objects.delete(uid)) this.options.onChange(uid)
  }
}
