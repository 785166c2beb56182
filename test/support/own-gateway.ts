import { randomUUID } from 'node:crypto'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { afterAll, beforeAll } from 'vitest'
import { serveApi, startApiServer, type RunningApiServer, type ServedApi } from './api-server.ts'
import { useTestDatabase, type TestDatabase } from './database.ts'
import { randomAddress, startFakeEngine } from './fake-engine.ts'
import type { Stack } from './stack.ts'
import { createNamespace, removeNamespace } from './namespace.ts'

/** A test file's own apiservers, behind which a fake engine answers. */
export interface OwnGateway<Api extends ServedApi = ServedApi> {
  namespace: string
  database: TestDatabase
  /** The first of them. */
  server: Api
  servers: Api[]
  /** Starts another gateway with other variables, in a process of its own. The caller must end it. */
  start: (env?: Record<string, string>, wrap?: Parameters<typeof startApiServer>[3]) => Promise<RunningApiServer>
}

interface Wanted {
  /** The name of its base model. */
  model: string
  answer: (request: IncomingMessage, response: ServerResponse) => unknown
  /** Variables of the apiservers. */
  env?: Record<string, string>
  count?: number
}

/** Starts apiservers and a fake engine before a test file's tests, and ends them after them. */
export function useFakeEngine(stack: Stack, wanted: Wanted): OwnGateway {
  return useGateway(stack, wanted, serveApi)
}

/** The same, with a process for each apiserver. */
export function useFakeEngineAndProcess(stack: Stack, wanted: Wanted): OwnGateway<RunningApiServer> {
  return useGateway(stack, wanted, startApiServer)
}

function useGateway<Api extends ServedApi>(
  stack: Stack,
  { model, answer, env, count = 1 }: Wanted,
  start: (stack: Stack, databaseUrl: string, env: Record<string, string>) => Promise<Api>,
): OwnGateway<Api> {
  const { kubectl } = stack
  const namespace = `${model}-${randomUUID()}`
  const own = { namespace, database: useTestDatabase() } as OwnGateway<Api>
  let engine: Server | undefined
  // The first chat may come before a gateway has seen the engine's pod.
  const variables = { TRAINYARD_NAMESPACE: namespace, TRAINYARD_HOLD_SECONDS: '60' }
  own.start = (more, wrap) => startApiServer(stack, own.database.databaseUrl, { ...variables, ...env, ...more }, wrap)
  beforeAll(async () => {
    await createNamespace(stack, namespace)
    const address = randomAddress()
    const target = { kubectl, namespace, pool: own.database.pool, address, baseModel: model }
    engine = await startFakeEngine(target, (request, response) => void answer(request, response))
    own.servers = await Promise.all(
      Array.from({ length: count }, () => start(stack, own.database.databaseUrl, { ...variables, ...env })),
    )
    own.server = own.servers[0]!
  })
  afterAll(async () => {
    await Promise.all((own.servers ?? []).map((server) => server.remove()))
    engine?.closeAllConnections()
    engine?.close()
    await removeNamespace(stack, namespace)
  })
  return own
}
