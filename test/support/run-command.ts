import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'

export interface Command {
  program: string
  args: string[]
  cwd: string
  env?: NodeJS.ProcessEnv
  /** The prefix of its lines, because suites print at the same time. */
  prefix: string
}

// A process that the command left running keeps the output open.
const maxDrainMs = 2_000

/** Runs a command and prints its lines as they arrive. Returns the exit code. */
export async function runCommand({ program, args, cwd, env = {}, prefix }: Command): Promise<number> {
  const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  for (const input of [child.stdout, child.stderr])
    createInterface({ input }).on('line', (line) => console.log(`${prefix} | ${line}`))
  const closed = once(child, 'close')
  const [code] = (await once(child, 'exit')) as [number | null]
  await Promise.race([closed, delay(maxDrainMs, undefined, { ref: false })])
  return code ?? 1
}
