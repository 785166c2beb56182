import { Type } from 'typebox'
import { readConfig } from '../../../lib/config.ts'
import type { LimitDefaults } from '../limits/limits.ts'
import { limitSettings } from '../limits/settings.ts'

const schema = Type.Object({ DATABASE_URL: Type.String({ minLength: 1 }) })

/** Where the database is: all that the administrator's commands need. */
export function loadAdminConfig() {
  return readConfig(schema, process.env)
}

/** What entities may use for which nothing was set, as the apiserver beside which the command runs has it. */
export function loadLimitDefaults(): LimitDefaults {
  return readConfig(Type.Object(limitSettings), process.env)
}
