import { Type, type Static } from 'typebox'
import { readConfig } from '../../lib/config.ts'

const schema = Type.Object({
  TRAINYARD_HOST: Type.String({ minLength: 1 }),
  TRAINYARD_PORT: Type.Integer({ minimum: 1, maximum: 65535, default: 8082 }),
  DATABASE_URL: Type.String({ pattern: '^postgres(ql)?://' }),
  TRAINYARD_NAMESPACE: Type.String({ minLength: 1 }),
  // How to reach kube-apiserver: as the pod's service account, or with KUBECONFIG outside of a cluster.
  TRAINYARD_SERVICE_ACCOUNT_DIR: Type.Optional(Type.String({ minLength: 1 })),
  KUBERNETES_SERVICE_HOST: Type.Optional(Type.String({ minLength: 1 })),
  KUBERNETES_SERVICE_PORT: Type.Optional(Type.String({ pattern: '^[0-9]{1,5}$' })),
  KUBECONFIG: Type.Optional(Type.String({ minLength: 1 })),
  LOG_LEVEL: Type.String({ default: 'info' }),
})

export type Config = Readonly<Static<typeof schema>>

/** The status server's configuration. @throws {ConfigError} */
export function loadConfig(): Config {
  return readConfig(schema, process.env)
}
