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

// As in a kubelet: a token is renewed after four fifths of its life, or after a day.
const renewAfterShare = 0.8
const renewAfterSeconds = 24 * 3600

/** Requests a service account token that is bound to the pod and ends with it. */
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

/** When to renew the token in a file, in milliseconds since the epoch. 0 if there is no token. */
export async function readRenewalTime(file: string): Promise<number> {
  const token = await readFile(file, 'utf8').catch(() => '')
  return renewalTime(token)
}

/** When to renew a token, from the times in it. 0 if they cannot be read. */
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
