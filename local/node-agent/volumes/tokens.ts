import { readFile } from 'node:fs/promises'
import type { KubeClient } from '../../../lib/kube/client.ts'
import type { Pod } from '../objects.ts'

interface TokenOptions {
  audience: string | undefined
  expirationSeconds: number
}

interface TokenReview {
  status: { token: string }
}

// As a kubelet: renewed when four fifths of its life are over, or a day.
const renewAfterShare = 0.8
const renewAfterSeconds = 24 * 3600

/** Asks for a service account token that is bound to the pod and ends with it. */
export async function requestToken(client: KubeClient, pod: Pod, options: TokenOptions): Promise<string> {
  const { namespace, name, uid } = pod.metadata
  const account = pod.spec?.serviceAccountName ?? 'default'
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`
  const body = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: {
      audiences: options.audience ? [options.audience] : [],
      expirationSeconds: options.expirationSeconds,
      boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid },
    },
  }
  const reply = await client.request<TokenReview>({ method: 'POST', path, body })
  return reply.status.token
}

/** When the token in a file should be renewed, in milliseconds since the epoch; 0 when there is none. */
export async function readRenewalTime(file: string): Promise<number> {
  const token = await readFile(file, 'utf8').catch(() => '')
  return renewalTime(token)
}

/** When a token should be renewed, by the times that it carries; 0 when they cannot be read. */
export function renewalTime(token: string): number {
  try {
    const payload = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')
    const { iat, exp } = JSON.parse(payload) as { iat: number; exp: number }
    const seconds = Math.min((exp - iat) * renewAfterShare, renewAfterSeconds)
    return Number.isFinite(seconds) ? (iat + seconds) * 1000 : 0
  } catch {
    return 0
  }
}
