import path from 'node:path'
import { KubeConfig } from '@kubernetes/client-node'

interface Surroundings {
  KUBECONFIG?: string
  TRAINYARD_SERVICE_ACCOUNT_DIR?: string
  KUBERNETES_SERVICE_HOST?: string
  KUBERNETES_SERVICE_PORT?: string
}

/** How to reach the API server: KUBECONFIG where it is set, else as the pod's service account. */
export function loadKubeConfig(env: Surroundings): KubeConfig {
  const kubeConfig = new KubeConfig()
  if (env.KUBECONFIG) kubeConfig.loadFromFile(env.KUBECONFIG)
  else kubeConfig.loadFromOptions(describeServiceAccount(env))
  return kubeConfig
}

/** The token is named by its file, so that the client library reads it again: it rotates. */
function describeServiceAccount(env: Surroundings) {
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
