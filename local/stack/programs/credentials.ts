import { generateKeyPairSync } from 'node:crypto'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { certificatesOf } from './certificates.ts'
import { replaceFile } from '../json-file.ts'
import type { Layout } from '../layout.ts'
import type { StackSettings } from '../settings.ts'

/** The credentials that the parts of the control plane use for each other. */
export interface Credentials {
  /** The users of kube-apiserver with their tokens. */
  tokens: string
  serviceAccountKey: string
  serviceAccountPublicKey: string
  adminToken: string
}

export function credentialsOf({ secrets }: Layout): Credentials {
  return {
    tokens: path.join(secrets, 'tokens.csv'),
    serviceAccountKey: path.join(secrets, 'service-account.key'),
    serviceAccountPublicKey: path.join(secrets, 'service-account.pub'),
    adminToken: path.join(secrets, 'admin-token'),
  }
}

/** Writes tokens, keys and the kubeconfigs of all users of kube-apiserver. */
export function writeCredentials(layout: Layout, settings: StackSettings): Credentials {
  const credentials = credentialsOf(layout)
  replaceFile(credentials.tokens, tokenFile(settings.secrets))
  replaceFile(credentials.adminToken, settings.secrets.admin)
  if (!existsSync(credentials.serviceAccountKey)) makeServiceAccountKey(credentials)
  const server = `https://127.0.0.1:${settings.ports.kubernetes}`
  const write = (file: string, token: string) =>
    replaceFile(file, kubeconfig({ server, token, authority: certificatesOf(layout).authority }))
  write(layout.kubeconfig, settings.secrets.admin)
  for (const user of ['controllerManager', 'scheduler', 'node'] as const) {
    write(userKubeconfig(layout, user), settings.secrets[user])
  }
  return credentials
}

export function userKubeconfig({ secrets }: Layout, user: 'controllerManager' | 'scheduler' | 'node'): string {
  return path.join(secrets, `${user}.kubeconfig`)
}

function tokenFile({ admin, controllerManager, scheduler, node }: StackSettings['secrets']): string {
  const users = [
    [admin, 'admin', 'admin', '"system:masters"'],
    [controllerManager, 'system:kube-controller-manager', 'controller-manager'],
    [scheduler, 'system:kube-scheduler', 'scheduler'],
    [node, 'system:node:local', 'node', '"system:nodes"'],
  ]
  return `${users.map((user) => user.join(',')).join('\n')}\n`
}

function makeServiceAccountKey({ serviceAccountKey, serviceAccountPublicKey }: Credentials): void {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  replaceFile(serviceAccountPublicKey, publicKey.export({ type: 'spki', format: 'pem' }) as string)
  replaceFile(serviceAccountKey, privateKey.export({ type: 'pkcs8', format: 'pem' }) as string)
}

export function kubeconfig({ server, token, authority }: { server: string; token: string; authority: string }): string {
  // JSON is valid YAML, so nothing needs quotes.
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'trainyard',
    clusters: [{ name: 'trainyard', cluster: { server, 'certificate-authority': authority } }],
    users: [{ name: 'trainyard', user: { token } }],
    contexts: [{ name: 'trainyard', context: { cluster: 'trainyard', user: 'trainyard', namespace: 'trainyard' } }],
  }
  return `${JSON.stringify(config, null, 2)}\n`
}
