import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { findDebianProgram } from '../support/debian-package.ts'
import { findFreePort } from '../support/free-port.ts'

/** How many connections a PgBouncer has to its server, which its clients share. */
export const poolerConnections = 10

/** A running PgBouncer in transaction mode. */
export interface PgBouncer {
  /** Of the same database as the server's URL. */
  databaseUrl: string
  stop: () => Promise<void>
}

/** Starts Debian's PgBouncer before a Postgres, with the settings that docs/postgres.md gives. */
export async function startPgBouncer(serverUrl: string): Promise<PgBouncer> {
  const libraries = /Depends: (libc-ares2|libevent-2\.1-\S+)/g
  const { command, env } = await findDebianProgram('usr/sbin/pgbouncer', { name: 'pgbouncer', libraries })
  const server = new URL(serverUrl)
  const folder = await mkdtemp(path.join(tmpdir(), 'trainyard-pgbouncer-'))
  const port = await findFreePort()
  const settings = path.join(folder, 'pgbouncer.ini')
  const users = path.join(folder, 'users.txt')
  await writeFile(users, `"${server.username}" "${server.password}"\n`)
  await writeFile(
    settings,
    `[databases]
* = host=${server.hostname} port=${server.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
${process.getuid?.() === 0 ? 'user = nobody' : ''}
auth_type = plain
auth_file = ${users}
pool_mode = transaction
default_pool_size = ${poolerConnections}
query_timeout = 30
idle_transaction_timeout = 600
`,
  )
  for (const [file, mode] of [
    [folder, 0o755],
    [settings, 0o644],
    [users, 0o644],
  ] as const)
    await chmod(file, mode)
  const child: ChildProcess = spawn(command, [settings], { env, stdio: 'ignore', cwd: '/' })
  server.port = String(port)
  return {
    databaseUrl: server.href,
    stop: async () => {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL')
        await once(child, 'exit')
      }
      await rm(folder, { recursive: true })
    },
  }
}
