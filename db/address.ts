import { readFileSync } from 'node:fs'
import path from 'node:path'
import { Type, type Static } from 'typebox'
import { ConfigError } from '../lib/config.ts'

const postgresUrl = Type.String({ pattern: '^postgres(ql)?://' })

/** The address of one database. */
export const databaseSettings = {
  DATABASE_URL: Type.Optional(postgresUrl),
  // Of Postgres itself, if the address above is a pooler's in transaction mode.
  DIRECT_DATABASE_URL: Type.Optional(postgresUrl),
  // A folder with these addresses, in files that are named as the keys of the chart's Secret. They are read again for each
  // connection, because the password may have changed.
  TRAINYARD_DATABASE_FOLDER: Type.Optional(Type.String({ minLength: 1 })),
}

/** The address of the database of traces, if it is a separate one. */
export const tracingDatabaseSettings = {
  TRACING_DATABASE_URL: Type.Optional(postgresUrl),
  DIRECT_TRACING_DATABASE_URL: Type.Optional(postgresUrl),
}

type Settings = Partial<Static<ReturnType<typeof allSettings>>>
const allSettings = () => Type.Object({ ...databaseSettings, ...tracingDatabaseSettings })

/** An address, or how to read the one of now. */
export type DatabaseUrl = string | (() => string)

export interface Database {
  url: DatabaseUrl
  /** Of Postgres itself, if `url` is a pooler's: LISTEN, locks of a session, and migrations need it. */
  directUrl?: DatabaseUrl
}

/** Where a process finds its databases. Traces are in the same one unless they have their own. @throws {ConfigError} */
export function readDatabases(settings: Settings): { main: Database; tracing: Database } {
  const main = readDatabase(settings, 'DATABASE_URL')
  if (!main) {
    throw new ConfigError(
      'bad configuration: DATABASE_URL is not set, and TRAINYARD_DATABASE_FOLDER has no database-url',
    )
  }
  return { main, tracing: readDatabase(settings, 'TRACING_DATABASE_URL') ?? main }
}

/** The address for connections that keep settings and locks from one transaction to the next. */
export function directUrlOf({ url, directUrl = url }: Database): DatabaseUrl {
  return directUrl
}

export function readUrl(url: DatabaseUrl): string {
  return typeof url === 'string' ? url : url()
}

function readDatabase(settings: Settings, name: 'DATABASE_URL' | 'TRACING_DATABASE_URL'): Database | undefined {
  const found = findUrl(settings, name)
  const direct = findUrl(settings, `DIRECT_${name}`)
  return found === undefined ? undefined : { url: found, ...(direct !== undefined && { directUrl: direct }) }
}

function findUrl(settings: Settings, name: keyof Settings): DatabaseUrl | undefined {
  const folder = settings.TRAINYARD_DATABASE_FOLDER
  if (folder === undefined) return settings[name]
  const file = path.join(folder, name.toLowerCase().replaceAll('_', '-'))
  const read = () => readFileSync(file, 'utf8').trim()
  try {
    return read() === '' ? undefined : read
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
