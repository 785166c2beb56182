import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'

/** Whom the client asks, and what. */
export interface ClientTarget {
  host: string
  port: number
  apiKey: string
  /** Sent by turns. */
  bodies: string[]
}

export interface LoadTask {
  kind: 'load'
  target: ClientTarget
  count: number
  /** Requests at a time. */
  concurrency: number
}

/** Asks once, asks many times, opens streams that stay open, or ends these. */
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

/** The process that asks. */
export interface LoadClient {
  run: (task: ClientTask) => Promise<ClientReport>
}

/** Runs the client in a process of its own, so that nothing of the bench's own delays it. */
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
