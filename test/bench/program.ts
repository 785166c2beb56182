import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { keepLog } from '../support/child-program.ts'

// On a machine with much other work, Python's imports alone take minutes.
const startLimitMs = 600_000

/** A server that a benchmark starts. */
export interface Program {
  url: string
  pid: number
}

export interface ProgramCommand {
  command: string
  args: string[]
  env: NodeJS.ProcessEnv
  url: string
  /** A path that answers with less than 500 once the server is up. */
  healthPath: string
}

/** Runs a server while `work` runs. */
export async function withProgram<T>(how: ProgramCommand, work: (found: Program) => Promise<T>): Promise<T> {
  const child = spawn(how.command, how.args, { env: how.env, stdio: ['ignore', 'ignore', 'pipe'] })
  const readLog = keepLog(child)
  const ended = once(child, 'exit')
  const failed = ended.then(() => Promise.reject(new Error(`${how.command} ended: ${readLog()}`)))
  failed.catch(() => {})
  try {
    await Promise.race([waitUntilUp(how.url + how.healthPath), failed])
    return await Promise.race([work({ url: how.url, pid: child.pid! }), failed])
  } finally {
    child.kill('SIGKILL')
    await ended
  }
}

async function waitUntilUp(url: string): Promise<void> {
  const limitMs = performance.now() + startLimitMs
  const isUp = () => fetch(url).then(({ status }) => status < 500, () => false) // prettier-ignore
  while (!(await isUp())) {
    if (performance.now() > limitMs) throw new Error(`nothing answers at ${url}`)
    await delay(100)
  }
}
