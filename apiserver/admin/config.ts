import { Type } from 'typebox'
import { readConfig } from '../../lib/config.ts'

const schema = Type.Object({ DATABASE_URL: Type.String({ minLength: 1 }) })

/** Where the database is: all that the administrator's commands need. */
export function loadAdminConfig() {
  return readConfig(schema, process.env)
}
