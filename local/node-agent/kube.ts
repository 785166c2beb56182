import type {
  V1ConfigMap,
  V1Container,
  V1ContainerStatus,
  V1EnvVarSource,
  V1Node,
  V1Pod,
  V1PodCondition,
  V1PodStatus,
  V1Probe,
  V1Secret,
  V1Service,
  V1Volume,
  V1VolumeMount,
  V1VolumeProjection,
} from '@kubernetes/client-node'
import { Agent, request, type Dispatcher } from 'undici'
import { readKubeconfig } from './kubeconfig.ts'

/** An object as it stands in JSON: the generated types, with times as strings. */
type Wire<T> = T extends Date ? string : T extends object ? { [K in keyof T]: Wire<T[K]> } : T

export type Pod = Wire<V1Pod>
export type PodStatus = Wire<V1PodStatus>
export type PodCondition = Wire<V1PodCondition>
export type Container = Wire<V1Container>
export type ContainerStatus = Wire<V1ContainerStatus>
export type EnvVarSource = Wire<V1EnvVarSource>
export type Volume = Wire<V1Volume>
export type VolumeMount = Wire<V1VolumeMount>
export type VolumeProjection = Wire<V1VolumeProjection>
export type Probe = Wire<V1Probe>
export type ConfigMap = Wire<V1ConfigMap>
export type Secret = Wire<V1Secret>
export type Service = Wire<V1Service>
export type Node = Wire<V1Node>

export interface KubeObject {
  metadata?: { uid?: string; name?: string; namespace?: string; resourceVersion?: string }
}

export interface WatchEvent<T> {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'
  object: T
}

/** An answer of kube-apiserver that is no success. */
export class KubeError extends Error {
  override name = 'KubeError'
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

interface KubeRequest {
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  path: string
  query?: Record<string, string>
  body?: unknown
  contentType?: string
}

// A request that takes longer than this is lost: better to come back than to hang a pod's worker.
const requestTimeoutMs = 15_000
// kube-apiserver ends a watch after this and sends a bookmark about once a minute, so longer silence is a dead peer.
const watchTimeoutSeconds = 290
const watchSilenceMs = 120_000

/** kube-apiserver over plain HTTPS, with the credentials of a kubeconfig file (certificates or token). */
export class KubeClient {
  private readonly origin: string
  private readonly token: string | undefined
  private readonly agent: Agent

  constructor(kubeconfig: string) {
    const { server, token, insecure, ...tls } = readKubeconfig(kubeconfig)
    this.origin = server
    this.token = token
    this.agent = new Agent({ connect: { ...tls, rejectUnauthorized: !insecure, timeout: 5000 } })
  }

  get<T>(path: string, query: Record<string, string> = {}): Promise<T> {
    return this.send<T>({ method: 'GET', path, query })
  }

  post<T>(path: string, body: unknown): Promise<T> {
    return this.send<T>({ method: 'POST', path, body })
  }

  /** A JSON merge patch: lists are replaced whole, null removes. */
  patch<T>(path: string, body: unknown): Promise<T> {
    return this.send<T>({ method: 'PATCH', path, body, contentType: 'application/merge-patch+json' })
  }

  /** Deletes at once, and only the very object that is meant; one that is gone or another by now counts as deleted. */
  async delete(path: string, uid: string): Promise<void> {
    const body = { gracePeriodSeconds: 0, preconditions: { uid } }
    await this.send({ method: 'DELETE', path, body }).catch(ignoreStatus(404, 409))
  }

  /** Events from a resource version on. Ends when the server ends the watch; throws when the connection breaks. */
  async *watch<T>(path: string, query: Record<string, string>, signal: AbortSignal): AsyncGenerator<WatchEvent<T>> {
    const reply = await request(this.url(path, { ...query, timeoutSeconds: String(watchTimeoutSeconds) }), {
      dispatcher: this.agent,
      headers: this.headers(),
      headersTimeout: requestTimeoutMs,
      bodyTimeout: watchSilenceMs,
      signal,
    })
    if (reply.statusCode !== 200) throw await readError(reply, `watching ${path}`)
    let rest = ''
    reply.body.setEncoding('utf8')
    for await (const chunk of reply.body) {
      const lines = (rest + String(chunk)).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) if (line) yield JSON.parse(line) as WatchEvent<T>
    }
  }

  async close(): Promise<void> {
    await this.agent.destroy()
  }

  private async send<T>(options: KubeRequest): Promise<T> {
    const reply = await request(this.url(options.path, options.query ?? {}), {
      dispatcher: this.agent,
      method: options.method,
      headers: { ...this.headers(), 'content-type': options.contentType ?? 'application/json' },
      body: options.body === undefined ? null : JSON.stringify(options.body),
      headersTimeout: requestTimeoutMs,
      bodyTimeout: requestTimeoutMs,
      signal: AbortSignal.timeout(requestTimeoutMs),
    })
    if (reply.statusCode >= 300) throw await readError(reply, `${options.method} ${options.path}`)
    return (await reply.body.json()) as T
  }

  private url(path: string, query: Record<string, string>): string {
    const search = new URLSearchParams(query).toString()
    return `${this.origin}${path}${search && `?${search}`}`
  }

  private headers(): Record<string, string> {
    return { accept: 'application/json', ...(this.token && { authorization: `Bearer ${this.token}` }) }
  }
}

/** A catch handler that takes the given HTTP statuses for success. */
export function ignoreStatus(...statuses: number[]): (error: unknown) => undefined {
  return (error) => {
    if (error instanceof KubeError && statuses.includes(error.status)) return undefined
    throw error
  }
}

async function readError(reply: Dispatcher.ResponseData, what: string): Promise<KubeError> {
  const text = await reply.body.text().catch(() => '')
  return new KubeError(reply.statusCode, `${what}: ${readMessage(text) ?? `HTTP ${reply.statusCode}`}`)
}

function readMessage(text: string): string | undefined {
  try {
    return (JSON.parse(text) as { message?: string }).message
  } catch {
    return text.slice(0, 200) || undefined
  }
}
