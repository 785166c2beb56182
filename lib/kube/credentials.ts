import { readFile } from 'node:fs/promises'
import type { OutgoingHttpHeaders } from 'node:http'
import type { RequestOptions } from 'node:https'

/** The options of a request that is not sent yet. Headers can be added. */
export interface UnsentOptions extends RequestOptions {
  headers: OutgoingHttpHeaders
}

/** The address of kube-apiserver, and the identity of requests to it. */
export interface KubeAccess {
  server: string
  /** Adds certificates and credentials to the options of a request. */
  authenticate: (options: UnsentOptions) => Promise<void>
}

/** A certificate, a key or a token: its text, or a file, which may rotate. */
export type Credential = { text: string } | { file: string }

/** Certificates and the key are PEM. */
export interface Credentials {
  ca?: Credential
  cert?: Credential
  key?: Credential
  token?: Credential
  /** Accepts any certificate of the server. */
  insecure?: boolean
}

/** Adds credentials to the options of a request. */
export async function applyCredentials(credentials: Credentials, options: UnsentOptions): Promise<void> {
  const [ca, cert, key, token] = await Promise.all([
    readCredential(credentials.ca),
    readCredential(credentials.cert),
    readCredential(credentials.key),
    readCredential(credentials.token),
  ])
  Object.assign(options, ca && { ca }, cert && { cert }, key && { key })
  if (credentials.insecure) options.rejectUnauthorized = false
  if (token) options.headers['authorization'] = `Bearer ${token.trim()}`
}

async function readCredential(credential: Credential | undefined): Promise<string | undefined> {
  if (!credential) return undefined
  return 'text' in credential ? credential.text : readRecent(credential.file)
}

// A kubelet replaces tokens long before they end. client-go reads them once a minute (CachedFileTokenSource).
const maxAgeMs = 10_000

/** The texts of the files that were read lately, by their paths. */
const recent = new Map<string, { readAt: number; text: Promise<string> }>()

function readRecent(file: string): Promise<string> {
  const known = recent.get(file)
  if (known && performance.now() - known.readAt < maxAgeMs) return known.text
  const text = readFile(file, 'utf8')
  recent.set(file, { readAt: performance.now(), text })
  text.catch(() => recent.delete(file))
  return text
}
