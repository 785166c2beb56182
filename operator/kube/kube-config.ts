import path from 'node:path'
import { KubeConfig } from '@kubernetes/client-node'
import { Type } from 'typebox'

/** The settings that say how to reach kube-apiserver: as the pod's service account, or with KUBECONFIG elsewhere. */
export const kubeSettings = {
  TRAINYARD_SERVICE_ACCOUNT_DIR: Type.Optional(Type.String({ minLength: 1 })),
  KUBERNETES_SERVICE_HOST: Type.Optional(Type.String({ minLength: 1 })),
  KUBERNETES_SERVICE_PORT: Type.Optional(Type.String({ pattern: '^[0-9]{1,5}$' })),
  KUBECONFIG: Type.Optional(Type.String({ minLength: 1 })),
}

type KubeSettings = { [Name in keyof typeof kubeSettings]?: string }

/** How to reach the API server: KUBECONFIG where it is set, else as the pod's service account. */
export function loadKubeConfig(env: KubeSettings): KubeConfig {
  const kubeConfig = new KubeConfig()
  if (env.KUBECONFIG) kubeConfig.loadFromFile(env.KUBECONFIG)
  else kubeConfig.loadFromOptions(describeServiceAccount(env))
  return kubeConfig
}

/** The token is named by its file, so that the client library reads it again: it rotates. */
function describeServiceAccount(env: KubeSettings) {
  const folder = env.TRAINYARD_SERVICE_ACCOUNT_DIR
  const host = env.KUBERNETES_SERVICE_HOST
  if (!folder || !host) {
    throw new Error('set KUBECONFIG, or TRAINYARD_SERVICE_ACCOUNT_DIR and KUBERNETES_SERVICE_HOST as in a pod')
  }
  const name = 'in-cluster'
  const server = `https://${host.includes(':') ? `[${host}]` : host}:${env.KUBERNETES_SERVICE_PORT ?? '443'}`
  const authProvider = { name: 'tokenFile', config: { tokenFile: path.join(folder, 'token') } }
  return {
    clusters: [{ name, server, caFile: path.join(folder, 'ca.crt'), skipTLSVerify: false }],
    users: [{ name, authProvider }],
    contexts: [{ name, cluster: name, user: name }],
    currentContext: name,
  }
}
