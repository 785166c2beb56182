import { spawn } from 'node:child_process'
import { stat } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { findExecutable } from '../../install/find-programs.ts'
import { readRun, type Run } from './run.ts'

/** The command of a container's process. */
export interface Command {
  argv: string[]
  cwd: string
  env: Record<string, string>
}

/** The command cannot be started. The message is for people. */
export class LaunchError extends Error {
  override name = 'LaunchError'
}

const shim = path.join(import.meta.dirname, 'shim.sh')
const shimStartMs = 5000

/**
 * Starts a run's process under a shim, detached from the agent, and returns when its process id is on disk.
 *
 * @param onExit called when the shim ends, instead of polling for it
 * @throws {LaunchError} when the command or the working folder does not exist
 */
export async function launch(run: Run, command: Command, onExit: () => void): Promise<Run> {
  const program = await findProgram(command)
  const setsid = await findExecutable('setsid', (process.env['PATH'] ?? '').split(':'), '/')
  if (!program || !setsid) throw new LaunchError(`exec: "${command.argv[0]}": executable file not found in $PATH`)
  await requireFolder(command.cwd)
  const { env, oddNames } = splitEnv(command.env)
  const argv = oddNames.length > 0 ? ['/usr/bin/env', ...oddNames, ...command.argv] : command.argv
  const child = spawn('/bin/sh', [shim, run.folder, setsid, ...argv], {
    cwd: command.cwd,
    env,
    detached: true,
    stdio: 'ignore',
  })
  const failed = Promise.withResolvers<never>()
  child.once('error', (error) => failed.reject(new LaunchError(`starting the container: ${error.message}`)))
  child.once('exit', onExit)
  child.unref()
  return Promise.race([failed.promise, waitForMain(run)])
}

/** Finds the program of a command: as a path from the working folder, or on its PATH. */
export async function findProgram({ argv, cwd, env }: Command): Promise<string | undefined> {
  const name = argv[0] ?? ''
  return name === '' ? undefined : findExecutable(name, (env['PATH'] ?? '').split(':'), cwd)
}

async function requireFolder(folder: string): Promise<void> {
  const found = await stat(folder).catch(() => undefined)
  if (!found?.isDirectory()) throw new LaunchError(`working directory ${folder} does not exist`)
}

/** A shell only passes on variables with valid shell names. Others (dots, dashes) are set with env(1). */
function splitEnv(all: Record<string, string>): { env: Record<string, string>; oddNames: string[] } {
  const entries = Object.entries(all)
  const isOdd = (name: string) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)
  return {
    env: Object.fromEntries(entries.filter(([name]) => !isOdd(name))),
    oddNames: entries.filter(([name]) => isOdd(name)).map(([name, value]) => `${name}=${value}`),
  }
}

async function waitForMain(run: Run): Promise<Run> {
  const deadline = Date.now() + shimStartMs
  while (Date.now() < deadline) {
    const now = await readStarted(run)
    if (now) return now
    await delay(5)
  }
  throw new LaunchError('starting the container took too long')
}

async function readStarted(run: Run): Promise<Run | undefined> {
  const started = await stat(path.join(run.folder, 'main')).catch(() => undefined)
  if (!started?.size) return undefined
  return readRun(path.dirname(run.folder), run.number)
}
