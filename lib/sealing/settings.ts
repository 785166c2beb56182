import { Type } from 'typebox'
import { SealingKeys } from './sealing-keys.ts'

const keySetting = Type.Optional(Type.String({ pattern: '^(.{16,})?$' }))

/** The keys with which secrets are encrypted in the database, for the schemas of processes that use them. */
export const sealingKeySettings = {
  // Unset or empty: webhooks cannot be created.
  TRAINYARD_WEBHOOK_KEY: keySetting,
  // What it has encrypted is encrypted again with the key above.
  TRAINYARD_PREVIOUS_WEBHOOK_KEY: keySetting,
}

/** The keys of a process's configuration. */
export function readSealingKeys(config: {
  TRAINYARD_WEBHOOK_KEY?: string
  TRAINYARD_PREVIOUS_WEBHOOK_KEY?: string
}): SealingKeys {
  const keys = [config.TRAINYARD_WEBHOOK_KEY, config.TRAINYARD_PREVIOUS_WEBHOOK_KEY]
  return new SealingKeys(keys.filter((key): key is string => key !== undefined && key !== ''))
}
