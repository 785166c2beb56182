import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { eventually } from './eventually.ts'

interface ChildProgram {
  command: string
  args: readonly string[]
  /** By default the variables of this process. */
  env?: NodeJS.ProcessEnv
  cwd?: string
  /** A folder of its own, which is removed with it. */
  folder?: string
  /** Throws until the program is ready. */
  ready: () => Promise<unknown>
  timeoutMs?: number
}

/** Starts a program and waits until it is ready. Returns what ends it, with SIGKILL. @throws {Error} with the end of its log */
export async function startChildProgram(program: ChildProgram): Promise<() => Promise<void>> {
  const { command, args, env, cwd, folder, ready, timeoutMs = 60_000 } = program
  const options: SpawnOptions = { env, cwd, stdio: ['ignore', 'ignore', 'pipe'] }
  const child = spawn(command, args, options)
  const exited = once(child, 'exit')
  const readLog = keepLog(child)
  const stop = async () => {
    child.kill('SIGKILL')
    await exited
    if (folder !== undefined) await rm(folder, { recursive: true })
  }
  try {
    await eventually(ready, timeoutMs)
    return stop
  } catch (error) {
    await stop()
    throw new Error(`${command} was not ready: ${readLog()}`, { cause: error })
  }
}

const maxLogLength = 2_000

/** Returns a function that reads the end of the program's standard error, which shows why it ended. */
export function keepLog(child: ChildProcess): () => string {
  let log = ''
  child.stderr!.on('data', (chunk: Buffer) => {
    log = `${log}${chunk.toString()}`.slice(-maxLogLength)
  })
  return () => log
}
