import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { SessionCookie } from '../support/log-in.ts'

interface Reply {
  id?: number
  type: 'success' | 'error' | 'event'
  method?: string
  params?: { level?: string; text?: string | null }
  result?: unknown
  message?: string
}

/** A page in Firefox, over WebDriver BiDi, which Firefox speaks by itself. */
export class FirefoxPage {
  /** What the page has written to its console as errors. */
  readonly errors: string[] = []
  readonly #socket: WebSocket
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>()
  #last = 0
  #context = ''

  constructor(socket: WebSocket) {
    this.#socket = socket
    socket.addEventListener('message', ({ data }) => this.#read(JSON.parse(String(data)) as Reply))
  }

  async begin({ width, height }: { width: number; height: number }): Promise<void> {
    await this.#send('session.new', { capabilities: {} })
    await this.#send('session.subscribe', { events: ['log.entryAdded'] })
    const { contexts } = (await this.#send('browsingContext.getTree', {})) as { contexts: { context: string }[] }
    this.#context = contexts[0]!.context
    await this.#send('browsingContext.setViewport', { context: this.#context, viewport: { width, height } })
  }

  async addCookie({ name, value, url }: SessionCookie): Promise<void> {
    const { hostname } = new URL(url)
    const cookie = { name, value: { type: 'string', value }, domain: hostname, path: '/', httpOnly: true }
    await this.#send('storage.setCookie', { cookie })
  }

  async open(url: string): Promise<void> {
    await this.#send('browsingContext.navigate', { context: this.#context, url, wait: 'complete' })
  }

  /** What a script returns. */
  async evaluate(expression: string): Promise<unknown> {
    const target = { context: this.#context }
    const answer = await this.#send('script.evaluate', { expression, target, awaitPromise: true })
    return (answer as { result?: { value?: unknown } }).result?.value
  }

  async takePicture(): Promise<Buffer> {
    const answer = await this.#send('browsingContext.captureScreenshot', { context: this.#context })
    return Buffer.from((answer as { data: string }).data, 'base64')
  }

  #send(method: string, params: object): Promise<unknown> {
    const id = ++this.#last
    const waiting = Promise.withResolvers<unknown>()
    this.#waiting.set(id, waiting)
    this.#socket.send(JSON.stringify({ id, method, params }))
    return waiting.promise
  }

  #read({ id, type, params, result, message }: Reply): void {
    if (type === 'event' && params?.level === 'error') this.errors.push(params.text ?? '')
    const waiting = id === undefined ? undefined : this.#waiting.get(id)
    if (type === 'error') waiting?.reject(new Error(message))
    else waiting?.resolve(result)
  }
}

/** Starts the Firefox at a path, without a window. */
export async function withFirefox(command: string, work: (page: FirefoxPage) => Promise<void>): Promise<void> {
  const profile = await mkdtemp(path.join(os.tmpdir(), 'firefox-'))
  const child = spawn(command, ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, HOME: profile },
  })
  try {
    const page = new FirefoxPage(await connect(await readAddress(child.stderr)))
    await page.begin({ width: 1440, height: 900 })
    await work(page)
  } finally {
    if (child.exitCode === null && child.kill()) await once(child, 'exit')
    await rm(profile, { recursive: true, force: true })
  }
}

async function readAddress(output: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface(output)) {
    const [, address] = /listening on (ws:\S+)/.exec(line) ?? []
    if (address !== undefined) {
      output.resume()
      return `${address}/session`
    }
  }
  throw new Error('Firefox ended before it listened')
}

async function connect(address: string): Promise<WebSocket> {
  const socket = new WebSocket(address)
  await once(socket, 'open')
  return socket
}
