import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { promisify } from 'node:util'
import { createPool, type Pool } from '../../db/pool.ts'
import { addKey, startApiServer } from '../support/api-server.ts'
import type { StackHandle } from '../support/global-setup.ts'
import { createNamespace } from '../support/namespace.ts'
import { log, nameDatabase, runOnServer, templateDatabase } from '../support/template-database.ts'

const run = promisify(execFile)

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

/** Runs `work` with an apiserver on a running stack, with additional variables. */
export async function withBenchServer<T>(
  stack: StackHandle,
  work: (server: BenchServer) => Promise<T>,
  env: Record<string, string> = {},
): Promise<T> {
  const name = `bench${randomUUID().replaceAll('-', '').slice(0, 12)}`
  await runOnServer(stack.databaseUrl, `CREATE DATABASE ${name} TEMPLATE ${templateDatabase}`)
  const databaseUrl = nameDatabase(stack.databaseUrl, name)
  const kubectl = async (...args: string[]) => {
    await run(stack.kubectlPath, args, { env: { ...process.env, KUBECONFIG: stack.kubeconfig } })
  }
  await createNamespace(stack, name)
  const pool = createPool(databaseUrl, log, 2)
  const variables = { DATABASE_URL: databaseUrl, TRAINYARD_NAMESPACE: name, TRAINYARD_ENGINE_KEY: 'bench', ...env }
  const server = await startApiServer(stack, databaseUrl, variables)
  try {
    const [entity, { url, pid }] = ['bench', server]
    const apiKey = await addKey(pool, entity, 'admin')
    return await work({ url, pid, apiKey, entity, pool, databaseUrl, namespace: name, kubectl })
  } finally {
    await server.remove()
    await pool.end()
  }
}

/** The base model of all models that are written or created. */
export const baseModel = 'bench/base'

/** Makes the base model known, so that clients can create models from it. */
export async function addBaseModel({ pool, namespace }: BenchServer): Promise<void> {
  await pool.query(
    `INSERT INTO training.base_models (name, names, namespace, cr_name) VALUES ($1, ARRAY[$1], $2, 'base')`,
    [baseModel, namespace],
  )
}
