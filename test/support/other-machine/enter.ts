import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { probePort } from '../../../local/preflight/ports.mjs'
import { makeOwnPostgres } from '../own-postgres.ts'
import { makeOtherMachine } from './machine.ts'

// `node test/support/other-machine/enter.ts COMMAND...` runs a command on a machine that differs from that of CI.

const defaultPort = 5432

/** A Postgres where everybody expects one, with a password that no test has. Perhaps the machine has one already. */
async function startPostgres(): Promise<() => Promise<void>> {
  if ((await probePort(defaultPort)) !== undefined) return async () => {}
  const postgres = await makeOwnPostgres({ port: defaultPort })
  await postgres.start()
  return postgres.remove
}

async function run(env: NodeJS.ProcessEnv): Promise<number> {
  const [program, ...args] = process.argv.slice(2)
  process.umask(0o077)
  const child = spawn(program!, args, { env, stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
  const [code] = (await once(child, 'exit')) as [number | null]
  return code ?? 1
}

const stopPostgres = await startPostgres()
const machine = await makeOtherMachine()
process.exitCode = await run(machine.env)
const used = await machine.listUsed()
for (const command of used) console.error(`a program of the machine was run, which has its own: ${command}`)
if (used.length > 0) process.exitCode = 1
await machine.remove()
await stopPostgres()
