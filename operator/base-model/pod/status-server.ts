import type { BaseModel } from '../../../crds/generated.ts'
import type { EnvVar } from './artifacts.ts'

const port = 8082
const tokenFolder = '/var/run/secrets/trainyard'
// The status server accepts only tokens for this audience.
const audience = 'trainyard-status'
const tokenSeconds = 3600

const serviceAccountToken = { path: 'token', audience, expirationSeconds: tokenSeconds }
export const statusToken = { name: 'status-token', projected: { sources: [{ serviceAccountToken }] } }
export const statusTokenMount = { name: 'status-token', mountPath: tokenFolder, readOnly: true }

/** Where pods find the status server, and the token that it accepts from them. */
export function statusServerEnv({ metadata }: BaseModel, settings: { listenOnPodIp: boolean }): EnvVar[] {
  return [
    { name: 'TRAINYARD_STATUS_URL', value: statusServerUrl(metadata.namespace, settings) },
    { name: 'TRAINYARD_TOKEN_FILE', value: `${tokenFolder}/token` },
  ]
}

/**
 * Where a trainer claims and reports. The name of the Service stays when that is made anew, also with an IPv6 address.
 * Pods that share a network have no DNS.
 */
function statusServerUrl(namespace: string | undefined, { listenOnPodIp }: { listenOnPodIp: boolean }): string {
  const host = listenOnPodIp ? '$(TRAINYARD_STATUS_SERVER_SERVICE_HOST)' : `trainyard-status-server.${namespace}.svc`
  return `http://${host}:${port}`
}
