import { Type } from 'typebox'
import { readConfig } from '../../../lib/config.ts'
import type { LimitDefaults } from '../limits/limits.ts'
import { limitSettings } from '../limits/settings.ts'

const schema = Type.Object({ DATABASE_URL: Type.String({ minLength: 1 }) })

/** The address of the database: the administrator's commands need nothing else. */
export function loadAdminConfig() {
  return readConfig(schema, process.env)
}

/** The default limits of entities. The command runs with the apiserver's settings. */
export function loadLimitDefaults(): LimitDefaults {
  return readConfig(Type.Object(limitSettings), process.env)
}
