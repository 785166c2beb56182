import { spawn } from 'node:child_process'
import { readFileSync, readlinkSync } from 'node:fs'
import { connect } from 'node:net'
import { Agent, request } from 'undici'
import type { Container } from '../objects.ts'
import { rewritePaths, type Mount } from '../volumes/mounts.ts'

/** An action of a probe or a preStop hook. */
export interface Action {
  exec?: { command?: string[] }
  httpGet?: {
    host?: string
    path?: string
    port: unknown
    scheme?: string
    httpHeaders?: { name: string; value: string }[]
  }
  tcpSocket?: { host?: string; port: unknown }
}

/** The part of a running container that an action needs. */
export interface ActionTarget {
  container: Container
  podIP: string
  mounts: Mount[]
  /** The main process. Commands get its environment and working folder. */
  pid: number
}

// As in a kubelet, certificates are not verified and connections are not kept.
const agent = new Agent({ connect: { rejectUnauthorized: false }, pipelining: 0 })

/** Runs an action once. @throws Error with a message for events */
export async function runAction(action: Action, target: ActionTarget, timeoutMs: number): Promise<void> {
  const signal = AbortSignal.timeout(timeoutMs)
  if (action.httpGet) return getHttp(action.httpGet, target, signal)
  if (action.tcpSocket) return openTcp(action.tcpSocket, target, timeoutMs)
  return runCommand(action.exec?.command ?? [], target, signal)
}

/** A port by number, or by its name in the container. */
export function readPort(container: Container, port: unknown): number {
  const named = container.ports?.find((candidate) => candidate.name === port)?.containerPort
  const number = named ?? Number(port)
  if (!Number.isInteger(number)) throw new Error(`the container has no port named ${String(port)}`)
  return number
}

async function getHttp(get: NonNullable<Action['httpGet']>, target: ActionTarget, signal: AbortSignal): Promise<void> {
  const host = get.host ?? target.podIP
  const scheme = (get.scheme ?? 'HTTP').toLowerCase()
  const url = `${scheme}://${host}:${readPort(target.container, get.port)}/${(get.path ?? '/').replace(/^\//, '')}`
  const headers = Object.fromEntries((get.httpHeaders ?? []).map(({ name, value }) => [name, value]))
  const reply = await request(url, {
    dispatcher: agent,
    headers: { 'user-agent': 'kube-probe/local', ...headers },
    signal,
  })
  await reply.body.dump()
  if (reply.statusCode < 200 || reply.statusCode >= 400) {
    throw new Error(`HTTP probe failed with statuscode: ${reply.statusCode}`)
  }
}

function openTcp(tcp: NonNullable<Action['tcpSocket']>, target: ActionTarget, timeoutMs: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const socket = connect({ host: tcp.host ?? target.podIP, port: readPort(target.container, tcp.port) })
  socket.setTimeout(timeoutMs, () => reject(new Error('TCP probe timed out')))
  socket.once('connect', resolve)
  socket.once('error', reject)
  return promise.finally(() => socket.destroy())
}

async function runCommand(command: string[], target: ActionTarget, signal: AbortSignal): Promise<void> {
  const [program = '', ...args] = command.map((word) => rewritePaths(word, target.mounts))
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const child = spawn(program, args, {
    cwd: readlinkSync(`/proc/${target.pid}/cwd`),
    env: readEnviron(target.pid),
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
    killSignal: 'SIGKILL',
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-1024)))
  }
  child.once('error', reject)
  child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(output.trim() || `exit code ${code}`))))
  return promise
}

function readEnviron(pid: number): Record<string, string> {
  const entries = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').filter(Boolean)
  return Object.fromEntries(entries.map((entry) => entry.split(/=(.*)/s).slice(0, 2) as [string, string]))
}
