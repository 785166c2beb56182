import { Type, type Static } from 'typebox'
import { readConfig } from '../../lib/config.ts'
import { tenantsSetting } from '../tenants.ts'
import { kubeSettings } from '../../lib/kube/access.ts'

const schema = Type.Object({
  TRAINYARD_NAMESPACE: Type.String({ minLength: 1 }),
  ...tenantsSetting,
  ...kubeSettings,
  LOG_LEVEL: Type.String({ default: 'info' }),
})

/** The configuration of the uninstallation. @throws {ConfigError} */
export function loadConfig(): Readonly<Static<typeof schema>> {
  return readConfig(schema, process.env)
}
