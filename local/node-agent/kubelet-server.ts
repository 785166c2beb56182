import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import path from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { TLSSocket } from 'node:tls'
import type { Logger } from '../../lib/log.ts'
import type { AgentConfig } from './config.ts'
import type { Pod } from './objects.ts'
import { readLog, type LogOptions } from './container/logs.ts'
import type { Pods } from './pod/pods.ts'
import { readRun, type Run } from './container/run.ts'

/** An error response. */
class RequestError extends Error {
  override name = 'RequestError'
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

const watchRunMs = 500

/**
 * The part of a kubelet's HTTPS interface that `kubectl logs` needs. It listens on 127.0.0.1. All paths except /healthz
 * need a client certificate of the configured authority (kube-apiserver), so that other users of the machine cannot
 * read logs.
 */
export class KubeletServer {
  readonly #server: Server
  readonly #port: number
  readonly #pods: Pods
  readonly #log: Logger

  constructor(config: AgentConfig, pods: Pods, log: Logger) {
    this.#pods = pods
    this.#log = log
    this.#port = config.kubeletPort
    const tls = {
      cert: readFileSync(config.kubeletCert),
      key: readFileSync(config.kubeletKey),
      requestCert: true,
      rejectUnauthorized: false,
      // An empty list would mean the public authorities of the web.
      ca: config.kubeletClientCA ? readFileSync(config.kubeletClientCA) : readFileSync(config.kubeletCert),
    }
    this.#server = createServer(tls, (request, response) => void this.#answer(request, response))
  }

  async listen(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#server.once('error', reject)
    this.#server.listen({ host: '127.0.0.1', port: this.#port }, resolve)
    await promise
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      await this.#route(request, response)
    } catch (error) {
      if (error instanceof RequestError)
        response.writeHead(error.status, { 'content-type': 'text/plain' }).end(error.message)
      else if (response.headersSent) response.destroy()
      else {
        this.#log.error({ error, url: request.url }, 'kubelet request failed')
        response.writeHead(500).end('internal error')
      }
    }
  }

  async #route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'https://localhost')
    const [, noun, namespace, name, container] = url.pathname.split('/').map(decodeURIComponent)
    if (url.pathname === '/healthz') {
      response.end('ok')
      return
    }
    if (!(request.socket as TLSSocket).authorized) throw new RequestError(401, 'a client certificate is needed')
    if (noun !== 'containerLogs') throw new RequestError(501, `the local node does not serve ${noun}`)
    if (!namespace || !name || !container) throw new RequestError(404, 'no such path')
    await this.#sendLog({ namespace, name, container }, url.searchParams, response)
  }

  async #sendLog(
    { namespace, name, container }: { namespace: string; name: string; container: string },
    query: URLSearchParams,
    response: ServerResponse,
  ): Promise<void> {
    const options = readLogOptions(query)
    const pod = this.#pods.find(namespace, name)
    if (!pod) throw new RequestError(404, `pod "${name}" not found on the local node`)
    const runs = await this.#pods.listRuns(pod, container)
    const run = runs[query.get('previous') === 'true' ? 1 : 0]
    if (!run) throw new RequestError(400, `container "${container}" in pod "${name}" ${explainNoRun(pod, container)}`)
    const watch = options.follow ? watchRun(run) : undefined
    response.writeHead(200, { 'content-type': 'text/plain' })
    response.flushHeaders()
    try {
      const chunks = readLog(run.folder, options, () => watch?.isRunning() ?? false)
      await pipeline(Readable.from(chunks, { objectMode: false }), response)
    } catch (error) {
      // When a client disconnects, its stream ends. That is not an error.
      if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error
    } finally {
      watch?.stop()
    }
  }
}

function explainNoRun(pod: Pod, container: string): string {
  const { containerStatuses = [], initContainerStatuses = [] } = pod.status ?? {}
  const status = [...containerStatuses, ...initContainerStatuses].find(({ name }) => name === container)
  if (!status) return 'is not known'
  return status.containerID ? 'has no earlier run' : `is waiting to start: ${status.state?.waiting?.reason}`
}

function readLogOptions(query: URLSearchParams): LogOptions {
  for (const name of ['timestamps', 'sinceSeconds', 'sinceTime']) {
    const value = query.get(name)
    if (value && value !== 'false') throw new RequestError(400, `${name}: the local node keeps no times of log lines`)
  }
  const tailLines = readNumber(query, 'tailLines')
  const limitBytes = readNumber(query, 'limitBytes')
  return {
    follow: query.get('follow') === 'true',
    ...(tailLines !== undefined && { tailLines }),
    ...(limitBytes !== undefined && { limitBytes }),
  }
}

function readNumber(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name)
  if (text === null) return undefined
  const value = Number(text)
  if (!Number.isInteger(value) || value < 0) throw new RequestError(400, `${name} is no number`)
  return value
}

/** Checks at intervals whether a run is still active. */
function watchRun(run: Run): { isRunning: () => boolean; stop: () => void } {
  let running = !run.exit
  const timer = setInterval(() => {
    const check = readRun(path.dirname(run.folder), run.number).then(
      (now) => (running = now !== undefined && !now.exit),
    )
    check.catch(() => (running = false))
  }, watchRunMs)
  return { isRunning: () => running, stop: () => clearInterval(timer) }
}
