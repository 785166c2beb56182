import { execFile, spawn } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { createPool, type Pool } from '../../db/pool.ts'
import { createLogger } from '../../lib/log.ts'
import { findFreePort } from '../support/free-port.ts'
import type { StackHandle } from '../support/global-setup.ts'
import { apiServerFlags } from '../support/node-env.ts'
import { nameDatabase, runOnServer, templateDatabase } from '../support/template-database.ts'
import { createNamespace } from '../support/namespace.ts'

const run = promisify(execFile)
const log = createLogger('bench', 'silent')

/** An apiserver with its own database and namespace, so that no other program works on its data. */
export interface BenchServer {
  url: string
  pid: number
  apiKey: string
  entity: string
  pool: Pool
  databaseUrl: string
  namespace: string
  kubectl: (...args: string[]) => Promise<void>
}

/** How a server is started, where it matters. */
export interface BenchServerOptions {
  /** A server with some ends by itself, so that it writes its profiles. */
  nodeOptions?: string[]
  env?: Record<string, string>
  /** The folder of the code. Default: this repository. */
  root?: string
}

/** Runs `work` with an apiserver on a running stack. */
export async function withBenchServer<T>(
  stack: StackHandle,
  work: (server: BenchServer) => Promise<T>,
  { nodeOptions = [], env = {}, root = process.cwd() }: BenchServerOptions = {},
): Promise<T> {
  const name = `bench${randomUUID().replaceAll('-', '').slice(0, 12)}`
  await runOnServer(stack.databaseUrl, `CREATE DATABASE ${name} TEMPLATE ${templateDatabase}`)
  const databaseUrl = nameDatabase(stack.databaseUrl, name)
  const kubectl = async (...args: string[]) => {
    await run(stack.kubectlPath, args, { env: { ...process.env, KUBECONFIG: stack.kubeconfig } })
  }
  await createNamespace(stack, name)
  const pool = createPool(databaseUrl, log, 2)
  const { url, child } = await startServer(stack, { databaseUrl, namespace: name, nodeOptions, env, root })
  try {
    const [entity, apiKey] = ['bench', `ty_${randomUUID().replaceAll('-', '')}`]
    await pool.query('INSERT INTO auth.api_keys (entity, digest) VALUES ($1, $2)', [
      entity,
      createHash('sha256').update(apiKey).digest(),
    ])
    return await work({ url, pid: child.pid!, apiKey, entity, pool, databaseUrl, namespace: name, kubectl })
  } finally {
    child.kill(nodeOptions.length > 0 ? 'SIGTERM' : 'SIGKILL')
    if (child.exitCode === null) await once(child, 'exit')
    await pool.end()
  }
}

interface ServerStart extends Required<BenchServerOptions> {
  databaseUrl: string
  namespace: string
}

async function startServer(stack: StackHandle, { databaseUrl, namespace, nodeOptions, env, root }: ServerStart) {
  const port = await findFreePort()
  const child = spawn(process.execPath, [...apiServerFlags, ...nodeOptions, 'apiserver/main.ts'], {
    cwd: root,
    env: {
      TRAINYARD_HOST: '127.0.0.1',
      TRAINYARD_PORT: String(port),
      DATABASE_URL: databaseUrl,
      TRAINYARD_ARTIFACTS: stack.artifacts,
      TRAINYARD_NAMESPACE: namespace,
      TRAINYARD_ENGINE_KEY: 'bench',
      KUBECONFIG: stack.kubeconfig,
      LOG_LEVEL: 'error',
      ...env,
    },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const url = `http://127.0.0.1:${port}`
  while (!(await isHealthy(url))) {
    if (child.exitCode !== null) throw new Error('the apiserver did not start')
    await delay(50)
  }
  return { url, child }
}

async function isHealthy(url: string): Promise<boolean> {
  return fetch(`${url}/v1/health`).then(
    ({ ok }) => ok,
    () => false,
  )
}
