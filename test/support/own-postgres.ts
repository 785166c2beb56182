import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createPool } from '../../db/pool.ts'
import { createLogger } from '../../lib/log.ts'
import { dataFolder, databaseUrl, postgresCommand, preparePostgres } from '../../local/stack/programs/postgres.ts'
import type { StackSettings } from '../../local/stack/settings.ts'
import { listChildren } from './child-processes.ts'
import { eventually } from './eventually.ts'
import { findFreePort } from './free-port.ts'

/** A Postgres for one test, with ordinary durability: acknowledged data is on the disk. */
export interface OwnPostgres {
  databaseUrl: string
  dataFolder: string
  /** Ends it. Its data are complete without its log. */
  stop: () => Promise<void>
  /** Kills all of its processes at once with SIGKILL. */
  kill: () => Promise<void>
  /** Starts it and waits until it answers. */
  start: () => Promise<void>
  /** Ends it if it runs, and removes its data. */
  remove: () => Promise<void>
}

interface Wanted {
  settings?: (folder: string) => Promise<string[]>
  /** Without it, a free one. */
  port?: number
  /** The folder of its folder. */
  parent?: string
  /** Makes its data folder. Without it, the database is empty. */
  fill?: (dataFolder: string) => Promise<void>
}

/** Prepares a Postgres that does not run yet. */
export async function makeOwnPostgres(wanted: Wanted = {}): Promise<OwnPostgres> {
  const { port = await findFreePort(), parent = tmpdir(), fill } = wanted
  const root = await mkdtemp(path.join(parent, 'trainyard-postgres-'))
  // Postgres runs as another user than root.
  await chmod(root, 0o755)
  const folder = path.join(root, 'postgres')
  const settings = {
    ports: { postgres: port },
    secrets: { postgres: 'own' },
  } as StackSettings
  const data = dataFolder(folder)
  if (fill) await mkdir(folder).then(() => fill(data))
  await preparePostgres(folder, settings, new AbortController().signal)
  const url = databaseUrl(settings)
  const more = (await wanted.settings?.(root)) ?? []
  let server: ChildProcess | undefined
  const kill = async () => {
    if (server?.exitCode !== null || server.signalCode !== null) return
    const ended = once(server, 'exit')
    for (const pid of [server.pid!, ...listChildren(server.pid!)]) killIfThere(pid)
    await ended
  }
  const stop = async () => {
    const ended = once(server!, 'exit')
    server!.kill('SIGINT')
    await ended
  }
  const start = () =>
    eventually(async () => {
      if (!server || server.exitCode !== null || server.signalCode !== null) server = await run(folder, settings, more)
      await ask(url)
    }, 60_000)
  const remove = () => kill().then(() => rm(root, { recursive: true }))
  return { databaseUrl: url, dataFolder: data, stop, kill, start, remove }
}

async function run(folder: string, { ports }: StackSettings, more: string[]): Promise<ChildProcess> {
  const { command, prefix, user } = await postgresCommand('postgres', folder)
  const options = ['listen_addresses=127.0.0.1', `port=${ports.postgres}`, 'unix_socket_directories=', ...more]
  const args = [...prefix, '-D', dataFolder(folder), ...options.flatMap((option) => ['-c', option])]
  return spawn(command, args, { cwd: '/', stdio: 'ignore', ...user })
}

async function ask(url: string): Promise<void> {
  const pool = createPool(url, createLogger('test', 'silent'), 1)
  try {
    await pool.query('SELECT 1')
  } finally {
    await pool.end()
  }
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
