import { readFileSync } from 'node:fs'
import path from 'node:path'
import { parse } from 'yaml'

/** How kube-apiserver is reached, and as whom. Certificates and keys are PEM text. */
export interface Access {
  server: string
  insecure: boolean
  ca?: string
  cert?: string
  key?: string
  token?: string
}

type Entry = Record<string, string | boolean | undefined>

interface Kubeconfig {
  'current-context'?: string
  contexts?: { name: string; context: { cluster: string; user: string } }[]
  clusters?: { name: string; cluster: Entry }[]
  users?: { name: string; user: Entry }[]
}

/**
 * Reads the current context of a kubeconfig file with certificates or a token in it. (The client library can do this
 * too, but loading it takes seconds and 90 MB, and a killed agent should be back at once.)
 *
 * @throws Error when the file has no usable current context
 */
export function readKubeconfig(file: string): Access {
  const config = parse(readFileSync(file, 'utf8')) as Kubeconfig
  const context = config.contexts?.find(({ name }) => name === config['current-context'])?.context
  const cluster = config.clusters?.find(({ name }) => name === context?.cluster)?.cluster
  const user = config.users?.find(({ name }) => name === context?.user)?.user
  if (typeof cluster?.['server'] !== 'string' || !user) throw new Error(`${file} has no usable current context`)
  const folder = path.dirname(file)
  const ca = readPart(cluster, 'certificate-authority', folder)
  const cert = readPart(user, 'client-certificate', folder)
  const key = readPart(user, 'client-key', folder)
  const token = typeof user['token'] === 'string' ? user['token'] : undefined
  return {
    server: cluster['server'].replace(/\/+$/, ''),
    insecure: cluster['insecure-skip-tls-verify'] === true,
    ...(ca && { ca }),
    ...(cert && { cert }),
    ...(key && { key }),
    ...(token && { token }),
  }
}

/** A part that is either in the file itself, in base64, or in another file, named from the folder of this one. */
function readPart(entry: Entry, name: string, folder: string): string | undefined {
  const [data, file] = [entry[`${name}-data`], entry[name]]
  if (typeof data === 'string') return Buffer.from(data, 'base64').toString('utf8')
  return typeof file === 'string' ? readFileSync(path.resolve(folder, file), 'utf8') : undefined
}
