import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { loadConfig } from '../apiserver/config.ts'
import { serve } from '../apiserver/serve.ts'

/** A kubeconfig of no cluster: port 1 is closed, so that each request to Kubernetes fails at once. */
export const noKubernetes = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [{ name: 'none', cluster: { server: 'http://127.0.0.1:1' } }],
  users: [{ name: 'none', user: { token: 'none' } }],
  contexts: [{ name: 'none', context: { cluster: 'none', user: 'none' } }],
  'current-context': 'none',
})

interface Document<Operation> {
  paths: Record<string, Record<string, Operation>>
}

/**
 * Reads an OpenAPI document from an API server that has no database: it is made of the schemas only.
 *
 * @param base the group's part of the path: none, or `/traces`
 */
export async function readOpenApi<Operation>(base: '' | '/traces'): Promise<Document<Operation>> {
  const folder = await mkdtemp(path.join(tmpdir(), 'trainyard-openapi-'))
  const kubeconfig = path.join(folder, 'kubeconfig')
  await writeFile(kubeconfig, noKubernetes)
  const port = await findFreePort()
  const { close } = await serve(
    loadConfig({
      DATABASE_URL: 'postgres://none@127.0.0.1:1/none',
      TRAINYARD_ARTIFACTS: folder,
      TRAINYARD_NAMESPACE: 'none',
      TRAINYARD_ENGINE_KEY: 'none',
      TRAINYARD_WEBHOOK_KEY: 'a key that seals nothing',
      TRAINYARD_HOST: '127.0.0.1',
      TRAINYARD_PORT: String(port),
      LOG_LEVEL: 'silent',
      KUBECONFIG: kubeconfig,
    }),
  )
  try {
    const response = await fetch(`http://127.0.0.1:${port}${base}/openapi.json`)
    return (await response.json()) as Document<Operation>
  } finally {
    await close(0)
    // The store may write its mark once more.
    await rm(folder, { recursive: true, maxRetries: 5 })
  }
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
