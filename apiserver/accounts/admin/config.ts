import { Type } from 'typebox'
import { databaseSettings, readDatabases, type Database } from '../../../db/address.ts'
import { readConfig } from '../../../lib/config.ts'
import type { LimitDefaults } from '../limits/limits.ts'
import { limitSettings } from '../limits/settings.ts'

/** The database: the administrator's commands need nothing else. */
export function loadDatabase(): Database {
  return readDatabases(readConfig(Type.Object(databaseSettings), process.env)).main
}

/** The default limits of entities. The command runs with the apiserver's settings. */
export function loadLimitDefaults(): LimitDefaults {
  return readConfig(Type.Object(limitSettings), process.env)
}

/** The address of the service as clients know it, if it is configured. */
export function loadPublicUrl(): string | undefined {
  return readConfig(Type.Object({ TRAINYARD_PUBLIC_URL: Type.Optional(Type.String()) }), process.env)
    .TRAINYARD_PUBLIC_URL
}
