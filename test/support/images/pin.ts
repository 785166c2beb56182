import { UserError } from '../../../local/user-error.ts'
import type { Bake } from './bake.ts'
import { listBases } from './bake.ts'

interface Reference {
  registry: string
  repository: string
  tag: string
}

// A registry answers with the digest of one of these, whichever the tag has. An index has an image for each architecture.
const accepted = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ')
const timeoutMs = 30_000

export interface RegistryOptions {
  signal?: AbortSignal
  /** http is for registries on this machine. */
  scheme?: 'https' | 'http'
}

export function isPinned(reference: string): boolean {
  return /@sha256:[0-9a-f]{64}$/.test(reference)
}

/** Returns the file with the digest that each base's tag has now. Digests of before are replaced. */
export async function pinBases(bake: Bake, find: (reference: string) => Promise<string>): Promise<Bake> {
  const variable = { ...bake.variable }
  for (const { name, reference } of listBases(bake)) {
    const tagged = reference.split('@')[0]!
    variable[name] = { default: `${tagged}@${await find(tagged)}` }
  }
  return { ...bake, variable }
}

/** `docker.io/library/node:24` */
export function parseReference(reference: string): Reference {
  const match = /^([^/]+)\/([^:@]+):([\w.-]+)$/.exec(reference)
  if (!match) throw new UserError(`${reference} is not REGISTRY/REPOSITORY:TAG`)
  const [, host, repository, tag] = match
  // Docker's registry has another host than its name says.
  return { registry: host === 'docker.io' ? 'registry-1.docker.io' : host!, repository: repository!, tag: tag! }
}

/** Asks the registry for the digest of a tag, by the protocol of OCI distribution. Public images need no account. */
export async function findDigest(
  reference: string,
  { signal, scheme = 'https' }: RegistryOptions = {},
): Promise<string> {
  const { registry, repository, tag } = parseReference(reference)
  const url = `${scheme}://${registry}/v2/${repository}/manifests/${tag}`
  const ask = (authorization?: string) =>
    fetch(url, {
      method: 'HEAD',
      headers: { accept: accepted, ...(authorization && { authorization }) },
      signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]),
    }).catch((cause: unknown) => {
      throw new UserError(`${registry} does not answer`, { cause })
    })
  let response = await ask()
  if (response.status === 401) response = await ask(await getToken(response.headers.get('www-authenticate') ?? ''))
  const digest = response.headers.get('docker-content-digest')
  if (!response.ok || digest === null) throw new UserError(`${registry} answers ${response.status} for ${reference}`)
  if (!/^sha256:[0-9a-f]{64}$/.test(digest)) throw new UserError(`${registry} answers a bad digest for ${reference}`)
  return digest
}

/** Gets an anonymous token from the server that the registry names: `Bearer realm="…",service="…",scope="…"`. */
async function getToken(challenge: string): Promise<string> {
  const values = Object.fromEntries([...challenge.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]))
  const { realm, ...query } = values
  if (!challenge.startsWith('Bearer ') || realm === undefined)
    throw new UserError('the registry asks for a password. Bases must be public images.')
  const response = await fetch(`${realm}?${new URLSearchParams(query as Record<string, string>).toString()}`)
  if (!response.ok) throw new UserError(`${realm} answers ${response.status}`)
  const { token, access_token } = (await response.json()) as { token?: string; access_token?: string }
  return `Bearer ${token ?? access_token}`
}
