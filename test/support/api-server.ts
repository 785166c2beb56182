import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import type { Pool } from '../../db/pool.ts'
import { afterAll, beforeAll } from 'vitest'
import { loadConfig } from '../../apiserver/config.ts'
import { serve } from '../../apiserver/serve.ts'
import { generateKey } from '../../apiserver/accounts/keys/secret.ts'
import { useTestDatabase, type TestDatabase } from './database.ts'
import { eventually } from './eventually.ts'
import { addBaseModel } from './fake-engine.ts'
import { findFreePort } from './free-port.ts'
import { apiServerFlags, nodeEnv } from './node-env.ts'
import { createRest, type Rest } from './rest.ts'
import { openSeverableProxy, type SeverableProxy } from './severable-proxy.ts'
import { type ApiStack, type Services, useServices } from './services.ts'

/** An apiserver for tests, with its own database. No operator changes its jobs. */
export interface ServedApi {
  url: string
  /** Its connection to Postgres, which a test can cut. */
  postgres: SeverableProxy
  /** Ends it if it runs. */
  remove: () => Promise<void>
}

/** An apiserver in a process of its own. */
export interface RunningApiServer extends ServedApi {
  pid: number
  /** Sends SIGTERM. Returns the exit code. */
  stop: () => Promise<number | null>
}

/** The key of the secrets of webhooks in tests. */
export const webhookKey = 'the key of the secrets of webhooks'

type Command = [string, ...string[]]
type ServerServices = Pick<Services, 'kubeconfig' | 'artifacts'>

/** The way of an apiserver to its database, and its variables. */
async function prepare(stack: ServerServices, databaseUrl: string, env: Record<string, string>) {
  const { hostname, port: databasePort } = new URL(databaseUrl)
  const postgres = await openSeverableProxy({ host: hostname, port: Number(databasePort) })
  const ownDatabaseUrl = new URL(databaseUrl)
  ownDatabaseUrl.host = `127.0.0.1:${postgres.port}`
  const port = Number(env['TRAINYARD_PORT'] ?? (await findFreePort()))
  const variables = {
    TRAINYARD_HOST: '127.0.0.1',
    TRAINYARD_PORT: String(port),
    DATABASE_URL: ownDatabaseUrl.href,
    TRAINYARD_ARTIFACTS: stack.artifacts,
    TRAINYARD_NAMESPACE: 'trainyard',
    TRAINYARD_ENGINE_KEY: 'none',
    TRAINYARD_WEBHOOK_KEY: webhookKey,
    KUBECONFIG: stack.kubeconfig,
    LOG_LEVEL: 'error',
    // Most tests have no engine that a request could wait for, and leave their streams open.
    TRAINYARD_HOLD_SECONDS: '1',
    TRAINYARD_DRAIN_SECONDS: '8',
    ...env,
  }
  return { postgres, variables, url: `http://127.0.0.1:${port}` }
}

/**
 * Starts an apiserver in the process of the test, with additional variables. A process takes seconds of CPU for its
 * start. Those who kill it, measure it or give Node options need one: see `startApiServer`.
 */
export async function serveApi(
  stack: ServerServices,
  databaseUrl: string,
  env: Record<string, string> = {},
): Promise<ServedApi> {
  const { postgres, variables, url } = await prepare(stack, databaseUrl, env)
  const { migrated, close } = await serve(loadConfig(variables))
  await migrated
  const end = async () => {
    await close(0)
    await postgres.close()
  }
  let ended: Promise<void> | undefined
  return { url, postgres, remove: () => (ended ??= end()) }
}

/** Starts apiserver/main.ts as its pod would, with additional variables. `wrap` changes its command. */
export async function startApiServer(
  stack: ServerServices,
  databaseUrl: string,
  env: Record<string, string> = {},
  wrap: (command: Command) => Command = (command) => command,
): Promise<RunningApiServer> {
  const { postgres, variables, url } = await prepare(stack, databaseUrl, env)
  const [program, ...args] = wrap([process.execPath, ...apiServerFlags, 'apiserver/main.ts'])
  const child = spawn(program, args, { env: { ...nodeEnv, ...variables }, stdio: 'inherit' })
  const exited = once(child, 'exit').then(([code]) => code as number | null)
  const remove = async () => {
    if (child.exitCode === null) child.kill('SIGKILL')
    await exited
    await postgres.close()
  }
  const checkHealth = async () => {
    if (!(await fetch(`${url}/v1/health`)).ok) throw new Error('not healthy')
  }
  try {
    await eventually(checkHealth, 240_000, 50)
  } catch (error) {
    await remove()
    throw error
  }
  return { url, pid: child.pid!, postgres, stop: () => (child.kill('SIGTERM'), exited), remove }
}

/** Adds a key to an entity and returns it. */
export async function addKey(pool: Pool, entity: string, role = 'member', key = generateKey()): Promise<string> {
  await pool.query('INSERT INTO auth.api_keys (entity, digest, role) VALUES ($1, $2, $3)', [
    entity,
    createHash('sha256').update(key).digest(),
    role,
  ])
  return key
}

/** Access to a test file's own apiserver. */
export interface OwnApi<Api extends ServedApi = ServedApi> {
  database: TestDatabase
  server: Api
  /** A REST client with a new key of an entity. */
  join: (entity: string, role?: string) => Promise<Rest>
}

/** Starts an apiserver before a test file's tests, and ends it after them. */
export function useApiServer(env: Record<string, string> = {}): OwnApi {
  return useServer((databaseUrl) => serveApi(useServices(), databaseUrl, env))
}

/** The same, in a process of its own. */
export function useApiServerProcess(env: Record<string, string> = {}): OwnApi<RunningApiServer> {
  return useServer((databaseUrl) => startApiServer(useServices(), databaseUrl, env))
}

function useServer<Api extends ServedApi>(start: (databaseUrl: string) => Promise<Api>): OwnApi<Api> {
  const own = { database: useTestDatabase() } as OwnApi<Api>
  own.join = async (entity, role) => createRest(own.server, await addKey(own.database.pool, entity, role))
  beforeAll(async () => {
    own.server = await start(own.database.databaseUrl)
  })
  afterAll(() => own.server?.remove())
  return own
}

/**
 * Starts an apiserver before a test file's tests, with a base model and an admin's key, for tests that need no Kubernetes. The
 * address of its database is there when the tests run.
 */
export async function useOwnStack(): Promise<ApiStack> {
  const port = String(await findFreePort())
  const own = useApiServer({ TRAINYARD_PORT: port })
  const url = `http://127.0.0.1:${port}`
  const stack = { ...useServices(), url, apiKey: generateKey(), baseModel: 'trainyard/tiny-chat' }
  beforeAll(async () => {
    const { pool, databaseUrl } = own.database
    await addBaseModel({ pool, baseModel: stack.baseModel, namespace: 'trainyard' })
    await addKey(pool, 'local', 'admin', stack.apiKey)
    stack.databaseUrl = databaseUrl
  })
  return stack
}
