import { randomUUID } from 'node:crypto'
import { withFakeEngine } from '../bench/fake-engine.ts'
import { startApiServer } from '../support/api-server.ts'
import { createTestDatabase } from '../support/database.ts'
import type { Stack } from '../support/stack.ts'
import { mib } from './bodies.ts'
import { createMemoryGroup } from './memory-group.ts'
import type { Siege } from './siege.ts'
import { createNamespace, removeNamespace } from '../support/namespace.ts'

// The memory limit of an apiserver in the chart.
export const memoryLimitBytes = 2048 * mib

/** Runs `work` with an apiserver in a memory-limited group, and with an engine that answers at once. */
export async function withBesiegedServer<T>(stack: Stack, work: (siege: Siege) => Promise<T>): Promise<T> {
  const name = `siege-${randomUUID().slice(0, 8)}`
  const database = await createTestDatabase()
  const group = await createMemoryGroup(`trainyard-${name}`, memoryLimitBytes)
  await createNamespace(stack, name)
  // The connection bypasses the test processes, whose work would delay it.
  // An attack must not end in an unexpected error, and its log line tells the cause of one.
  const env = { DATABASE_URL: database.databaseUrl, TRAINYARD_NAMESPACE: name, LOG_LEVEL: 'error' }
  const server = await startApiServer(stack, database.databaseUrl, env, group?.wrap)
  try {
    const home = { pool: database.pool, namespace: name, kubectl: stack.kubectl }
    return await withFakeEngine(home, (chatModel) => work({ server, pool: database.pool, chatModel, group }))
  } finally {
    await server.remove()
    await group?.remove()
    await database.drop()
    await removeNamespace(stack, name)
  }
}
