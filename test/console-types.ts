import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createApp, openGroups } from '../apiserver/app.ts'
import { loadConfig } from '../apiserver/config.ts'
import { createSharedParts } from '../apiserver/serve.ts'
import { createLogger } from '../lib/log.ts'
import { renderConsoleTypes, type OpenApi } from './support/console-types.ts'

const file = path.join(import.meta.dirname, '..', 'console', 'data', 'api-types.ts')

/** A cluster that nobody asks. */
const nobody = `
apiVersion: v1
kind: Config
current-context: none
clusters: [{ name: none, cluster: { server: 'http://127.0.0.1:1' } }]
users: [{ name: none, user: { token: none } }]
contexts: [{ name: none, context: { cluster: none, user: none } }]
`

/** Reads the OpenAPI documents of an API server that has no database: they are made of its schemas only. */
async function readDocuments(folder: string): Promise<{ base: string; document: OpenApi }[]> {
  const kubeconfig = path.join(folder, 'kubeconfig')
  await writeFile(kubeconfig, nobody)
  const config = loadConfig({
    DATABASE_URL: 'postgres://none@127.0.0.1:1/none',
    TRAINYARD_ARTIFACTS: folder,
    TRAINYARD_NAMESPACE: 'none',
    TRAINYARD_ENGINE_KEY: 'none',
    TRAINYARD_WEBHOOK_KEY: 'a key that seals nothing',
    TRAINYARD_HOST: '127.0.0.1',
    KUBECONFIG: kubeconfig,
  })
  const shared = await createSharedParts(config, createLogger('apiserver', 'silent'))
  const health = { isMigrated: () => false, storeTrouble: () => undefined }
  const server = createServer(createApp({ ...shared, ...health }, await openGroups(config, shared)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const read = async (base: string) => {
    const response = await fetch(`${url}${base}/openapi.json`)
    return { base, document: (await response.json()) as OpenApi }
  }
  return [await read(''), await read('/traces')]
}

const folder = await mkdtemp(path.join(tmpdir(), 'trainyard-types-'))
const types = renderConsoleTypes(await readDocuments(folder))
await rm(folder, { recursive: true })
if (process.argv.includes('--check')) {
  const isFresh = readFileSync(file, 'utf8') === types
  if (!isFresh) console.error('console/data/api-types.ts is stale: run npm run gen')
  process.exit(isFresh ? 0 : 1)
}
writeFileSync(file, types)
// The groups that were opened have timers.
process.exit(0)
