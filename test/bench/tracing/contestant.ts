import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'

// The last characters of a process's log, which show why it ended.
const maxLogLength = 2_000
// On a machine with much other work, Python's imports alone take minutes.
const startLimitMs = 600_000

/** Another project's server, for one benchmark. */
export interface Contestant {
  url: string
  pid: number
}

export interface ContestantCommand {
  command: string
  args: string[]
  env: NodeJS.ProcessEnv
  url: string
  /** A path that answers with less than 500 once the server is up. */
  healthPath: string
}

/** Runs a server while `work` runs. */
export async function withContestant<T>(how: ContestantCommand, work: (found: Contestant) => Promise<T>): Promise<T> {
  const child = spawn(how.command, how.args, { env: how.env, stdio: ['ignore', 'pipe', 'pipe'] })
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

/** Returns a function that reads the end of the process's log. */
function keepLog(child: ChildProcess): () => string {
  let log = ''
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.on('data', (chunk: Buffer) => (log = `${log}${chunk.toString()}`.slice(-maxLogLength)))
  }
  return () => log
}
