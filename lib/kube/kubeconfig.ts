import { readFileSync } from 'node:fs'
import path from 'node:path'
import { parse } from 'yaml'
import { applyCredentials, type Credential, type Credentials, type KubeAccess } from './credentials.ts'

type Entry = Record<string, unknown>

interface Kubeconfig {
  'current-context'?: string
  contexts?: { name: string; context: { cluster: string; user: string } }[]
  clusters?: { name: string; cluster: Entry }[]
  users?: { name: string; user: Entry }[]
}

const clusterFields = new Set([
  'server',
  'certificate-authority',
  'certificate-authority-data',
  'insecure-skip-tls-verify',
  'extensions',
])
const userFields = new Set([
  'client-certificate',
  'client-certificate-data',
  'client-key',
  'client-key-data',
  'token',
  'tokenFile',
])

/**
 * Reads the current context of a kubeconfig file.
 *
 * It reads certificates and tokens itself, because the client library takes seconds and 90 MB to load. The library is
 * only loaded for other settings, such as a proxy or a command that returns a token.
 *
 * @throws Error if the file has no usable current context
 */
export function readKubeconfig(file: string): KubeAccess {
  const config = parse(readFileSync(file, 'utf8')) as Kubeconfig
  const context = config.contexts?.find(({ name }) => name === config['current-context'])?.context
  const cluster = config.clusters?.find(({ name }) => name === context?.cluster)?.cluster
  const user = config.users?.find(({ name }) => name === context?.user)?.user
  if (typeof cluster?.['server'] !== 'string' || !user) throw new Error(`${file} has no usable current context`)
  const { server } = cluster
  if (!hasOnly(cluster, clusterFields) || !hasOnly(user, userFields)) {
    return { server, authenticate: authenticateByLibrary(file) }
  }
  const credentials = readCredentials(cluster, user, path.dirname(file))
  return { server, authenticate: (options) => applyCredentials(credentials, options) }
}

function hasOnly(entry: Entry, fields: ReadonlySet<string>): boolean {
  return Object.keys(entry).every((field) => fields.has(field))
}

function readCredentials(cluster: Entry, user: Entry, folder: string): Credentials {
  const ca = findPart(cluster, 'certificate-authority', folder)
  const cert = findPart(user, 'client-certificate', folder)
  const key = findPart(user, 'client-key', folder)
  const token = findToken(user, folder)
  const insecure = cluster['insecure-skip-tls-verify'] === true
  return { insecure, ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }), ...(token && { token }) }
}

/** A value is either in the file, in base64, or in another file. That file's path is relative to this one's folder. */
function findPart(entry: Entry, name: string, folder: string): Credential | undefined {
  const [data, file] = [entry[`${name}-data`], entry[name]]
  if (typeof data === 'string') return { text: Buffer.from(data, 'base64').toString('utf8') }
  return typeof file === 'string' ? { file: path.resolve(folder, file) } : undefined
}

function findToken({ token, tokenFile }: Entry, folder: string): Credential | undefined {
  if (typeof tokenFile === 'string') return { file: path.resolve(folder, tokenFile) }
  return typeof token === 'string' ? { text: token } : undefined
}

function authenticateByLibrary(file: string): KubeAccess['authenticate'] {
  const load = async () => {
    const { KubeConfig } = await import('@kubernetes/client-node')
    const kubeConfig = new KubeConfig()
    kubeConfig.loadFromFile(file)
    return kubeConfig
  }
  let loading: ReturnType<typeof load> | undefined
  return async (options) => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined
      throw error
    })
    const kubeConfig = await loading
    await kubeConfig.applyToHTTPSOptions(options)
    // The library's agent opens a connection for each request. It is only needed for a proxy.
    if (!kubeConfig.getCurrentCluster()?.proxyUrl) delete options.agent
  }
}
