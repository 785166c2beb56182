import { spawn, type SpawnOptions } from 'node:child_process'
import { createInterface } from 'node:readline'
import { Interrupted } from '../user-error.ts'

/** The exit code of a child, and the last lines that it wrote. */
export interface ChildResult {
  code: number
  stdout: string
  tail: string
}

export interface ChildOptions extends Pick<SpawnOptions, 'cwd' | 'env' | 'uid' | 'gid'> {
  signal?: AbortSignal
  /** Called with each line that the child writes to stderr. */
  onLine?: (line: string) => void
  input?: string
}

const tailLines = 30

/**
 * Runs a program to its end, in a process group of its own. An abort ends the whole group, and Ctrl-C reaches it only
 * through this process.
 *
 * @throws {Interrupted} when aborted; the system's error (ENOENT, EACCES) when it does not start
 */
export async function runChild(command: string, args: string[], options: ChildOptions = {}): Promise<ChildResult> {
  const { signal, onLine, input, ...spawnOptions } = options
  if (signal?.aborted) throw new Interrupted()
  const child = spawn(command, args, { ...spawnOptions, stdio: ['pipe', 'pipe', 'pipe'], detached: true })
  const stop = () => endGroup(child.pid)
  signal?.addEventListener('abort', stop, { once: true })
  const lines: string[] = []
  let stdout = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  createInterface({ input: child.stderr }).on('line', (line) => {
    lines.push(line)
    if (lines.length > tailLines) lines.shift()
    onLine?.(line)
  })
  // A program may end before it has read its input. That is not an error.
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  try {
    const code = await new Promise<number>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (exitCode, exitSignal) => resolve(exitCode ?? (exitSignal ? 128 : 1)))
    })
    if (signal?.aborted) throw new Interrupted()
    return { code, stdout, tail: lines.join('\n') }
  } finally {
    signal?.removeEventListener('abort', stop)
  }
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGTERM')
  } catch {
    // The process has already ended.
  }
}
