import { Type, type Static } from 'typebox'
import { readConfig } from '../../lib/config.ts'
import { kubeSettings } from '../../lib/kube/access.ts'

const schema = Type.Object({
  TRAINYARD_HOST: Type.String({ minLength: 1 }),
  TRAINYARD_PORT: Type.Integer({ minimum: 1, maximum: 65535, default: 8082 }),
  DATABASE_URL: Type.String({ pattern: '^postgres(ql)?://' }),
  TRAINYARD_NAMESPACE: Type.String({ minLength: 1 }),
  ...kubeSettings,
  LOG_LEVEL: Type.String({ default: 'info' }),
})

export type Config = Readonly<Static<typeof schema>>

/** The status server's configuration. @throws {ConfigError} */
export function loadConfig(): Config {
  return readConfig(schema, process.env)
}
