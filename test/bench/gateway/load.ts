import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'

/** The server that the client sends requests to, and the requests. */
export interface ClientTarget {
  host: string
  port: number
  apiKey: string
  /** Sent in turn. */
  bodies: string[]
}

export interface LoadTask {
  kind: 'load'
  target: ClientTarget
  count: number
  /** The number of concurrent requests. */
  concurrency: number
}

/** Sends one request, sends many requests, opens streams that stay open, or closes these. */
export type ClientTask =
  | LoadTask
  | { kind: 'probe'; target: ClientTarget }
  | { kind: 'hold'; target: ClientTarget; count: number }
  | { kind: 'release' }

export interface ClientReport {
  reply?: { status: number; text: string }
  latenciesMs?: number[]
  error?: string
}

/** The client process. */
export interface LoadClient {
  run: (task: ClientTask) => Promise<ClientReport>
}

/** Runs the client in its own process, so that the benchmark's other work does not delay it. */
export async function withLoadClient<T>(work: (client: LoadClient) => Promise<T>): Promise<T> {
  const child = fork(path.join(import.meta.dirname, 'client.ts'))
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('the client of the benchmark ended')))
  ended.catch(() => {})
  try {
    return await work({ run: (task) => Promise.race([runTask(child, task), ended]) })
  } finally {
    child.kill('SIGKILL')
  }
}

async function runTask(child: ChildProcess, task: ClientTask): Promise<ClientReport> {
  const reported = once(child, 'message') as Promise<[ClientReport]>
  child.send(task)
  const [report] = await reported
  if (report.error !== undefined) throw new Error(report.error)
  return report
}
