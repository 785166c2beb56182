import path from 'node:path'
import { Type } from 'typebox'
import { buildOrigin } from '../origin.ts'
import { applyCredentials, type KubeAccess } from './credentials.ts'
import { readKubeconfig } from './kubeconfig.ts'

/** The settings to reach kube-apiserver: as the pod's service account, or with KUBECONFIG elsewhere. */
export const kubeSettings = {
  TRAINYARD_SERVICE_ACCOUNT_DIR: Type.Optional(Type.String({ minLength: 1 })),
  KUBERNETES_SERVICE_HOST: Type.Optional(Type.String({ minLength: 1 })),
  KUBERNETES_SERVICE_PORT: Type.Optional(Type.String({ pattern: '^[0-9]{1,5}$' })),
  KUBECONFIG: Type.Optional(Type.String({ minLength: 1 })),
}

type KubeSettings = { [Name in keyof typeof kubeSettings]?: string }

/** How to reach kube-apiserver: with KUBECONFIG if it is set, else as the pod's service account. */
export function loadKubeAccess(env: KubeSettings): KubeAccess {
  return env.KUBECONFIG ? readKubeconfig(env.KUBECONFIG) : useServiceAccount(env)
}

function useServiceAccount(env: KubeSettings): KubeAccess {
  const folder = env.TRAINYARD_SERVICE_ACCOUNT_DIR
  const host = env.KUBERNETES_SERVICE_HOST
  if (!folder || !host) {
    throw new Error('set KUBECONFIG, or TRAINYARD_SERVICE_ACCOUNT_DIR and KUBERNETES_SERVICE_HOST as in a pod')
  }
  const credentials = { ca: { file: path.join(folder, 'ca.crt') }, token: { file: path.join(folder, 'token') } }
  return {
    server: buildOrigin('https', host, env.KUBERNETES_SERVICE_PORT ?? '443'),
    authenticate: (options) => applyCredentials(credentials, options),
  }
}
