import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import type { KubeAccess } from '../../lib/kube/credentials.ts'

interface StoredObject {
  metadata: { name: string; resourceVersion?: string; [field: string]: unknown }
  [field: string]: unknown
}

interface Answer {
  status: number
  body: object
}

/**
 * A fake Kubernetes API server for a client's error handling: objects with versions, lists and watches, and switches
 * for rare events. Paths are `COLLECTION/NAME`, and kinds have no meaning.
 */
export class FakeApiServer {
  readonly requests: string[] = []
  lastHeaders: IncomingHttpHeaders = {}
  /** answers these statuses to the next requests, one each */
  readonly failures: number[] = []
  /** takes requests and never answers */
  hanging = false
  /** ends each new watch with "410 Gone" in its stream */
  goneForWatches = false
  readonly #collections = new Map<string, Map<string, StoredObject>>()
  readonly #watches = new Set<{ collection: string; response: ServerResponse }>()
  readonly #server: Server
  readonly #changes: { collection: string; version: number; line: string }[] = []
  #version = 0

  constructor() {
    this.#server = createServer((request, response) => void this.#handle(request, response))
  }

  async start(): Promise<KubeAccess> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    const server = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
    return { server, authenticate: async () => {} }
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  get openWatches(): number {
    return this.#watches.size
  }

  read(collection: string, name: string): StoredObject | undefined {
    return this.#of(collection).get(name)
  }

  /** Adds or changes an object, as another client would. */
  put(collection: string, object: StoredObject): StoredObject {
    const isNew = !this.#of(collection).has(object.metadata.name)
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(++this.#version) } }
    this.#of(collection).set(object.metadata.name, stored)
    this.#send(collection, isNew ? 'ADDED' : 'MODIFIED', stored)
    return stored
  }

  remove(collection: string, name: string): void {
    const object = this.#of(collection).get(name)
    this.#of(collection).delete(name)
    const resourceVersion = String(++this.#version)
    if (object) this.#send(collection, 'DELETED', { ...object, metadata: { ...object.metadata, resourceVersion } })
  }

  bookmark(collection: string): void {
    this.#send(collection, 'BOOKMARK', { metadata: { name: '', resourceVersion: String(++this.#version) } })
  }

  /** Breaks the connections of all watches. */
  dropWatches(): void {
    for (const { response } of this.#watches) response.destroy()
    this.#watches.clear()
  }

  /** Forgets the changes so far: later watches do not get them. */
  forgetChanges(): void {
    this.#changes.length = 0
  }

  /** Changes objects without notifying watches, as while no watch runs. Later watches get the changes. */
  silently(change: () => void): void {
    const watches = [...this.#watches]
    this.#watches.clear()
    change()
    for (const watch of watches) this.#watches.add(watch)
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://fake')
    const isWatch = url.searchParams.get('watch') === 'true'
    this.requests.push(`${isWatch ? 'WATCH' : request.method} ${url.pathname}`)
    this.lastHeaders = request.headers
    if (this.hanging) return
    const failure = this.failures.shift()
    if (failure !== undefined) return send(response, reject(failure, 'switched on'))
    if (isWatch) return this.#openWatch(url.pathname, Number(url.searchParams.get('resourceVersion')), response)
    const hasBody = ['POST', 'PUT', 'PATCH'].includes(request.method ?? '')
    const body = hasBody ? ((await json(request)) as StoredObject) : undefined
    send(response, this.#answer(request.method ?? 'GET', url.pathname, body))
  }

  #openWatch(collection: string, from: number, response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.flushHeaders()
    if (this.goneForWatches) {
      response.end(`${JSON.stringify({ type: 'ERROR', object: reject(410, 'too old').body })}\n`)
      return
    }
    for (const change of this.#changes) {
      if (change.collection === collection && change.version > from) response.write(change.line)
    }
    const watch = { collection, response }
    this.#watches.add(watch)
    response.on('close', () => this.#watches.delete(watch))
  }

  #answer(method: string, fullPath: string, body: StoredObject | undefined): Answer {
    // The status of an object has a path of its own.
    const path = fullPath.replace(/\/status$/, '')
    const collection = path.slice(0, path.lastIndexOf('/'))
    const name = path.slice(path.lastIndexOf('/') + 1)
    if (method === 'POST') return this.#create(path, body!)
    if (method === 'GET' && this.#collections.has(path)) return this.#list(path)
    const present = this.#of(collection).get(name)
    if (method === 'PATCH') {
      const metadata = { ...present?.metadata, ...body!.metadata, name }
      return { status: 200, body: this.put(collection, { ...present, ...body!, metadata }) }
    }
    if (!present) return reject(404, 'not found', name)
    if (method === 'PUT') return this.#replace(collection, present, body!)
    if (method === 'DELETE') this.remove(collection, name)
    return { status: 200, body: present }
  }

  #list(collection: string): Answer {
    const items = [...this.#of(collection).values()]
    return { status: 200, body: { metadata: { resourceVersion: String(this.#version) }, items } }
  }

  #create(collection: string, object: StoredObject): Answer {
    const { name } = object.metadata
    if (this.#of(collection).has(name)) return reject(409, 'already exists', name)
    return { status: 201, body: this.put(collection, object) }
  }

  #replace(collection: string, present: StoredObject, object: StoredObject): Answer {
    const { name, resourceVersion } = object.metadata
    if (resourceVersion !== present.metadata.resourceVersion) return reject(409, 'the object has been modified', name)
    return { status: 200, body: this.put(collection, object) }
  }

  /** Creates a collection, so that it can be listed while it is empty. */
  #of(collection: string): Map<string, StoredObject> {
    const objects = this.#collections.get(collection) ?? new Map<string, StoredObject>()
    this.#collections.set(collection, objects)
    return objects
  }

  #send(collection: string, type: string, object: object): void {
    const line = `${JSON.stringify({ type, object })}\n`
    if (type !== 'BOOKMARK') this.#changes.push({ collection, version: this.#version, line })
    for (const watch of this.#watches) if (watch.collection === collection) watch.response.write(line)
  }
}

function reject(code: number, message: string, name?: string): Answer {
  const details = name === undefined ? {} : { details: { name } }
  return { status: code, body: { kind: 'Status', status: 'Failure', code, message, ...details } }
}

function send(response: ServerResponse, { status, body }: Answer): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
