import { Type } from 'typebox'
import { artifactSettings, openArtifactStore } from '../../artifacts/store/settings.ts'
import type { ArtifactStore } from '../../artifacts/store/store.ts'
import {
  databaseSettings,
  directUrlOf,
  readDatabases,
  tracingDatabaseSettings,
  type DatabaseUrl,
} from '../../db/address.ts'
import type { DatabasePart } from '../../db/migrate.ts'
import { readConfig } from '../../lib/config.ts'
import { keySettings, withKeyFiles } from '../../lib/key-files.ts'
import { createLogger, type Logger } from '../../lib/log.ts'

const key = Type.Optional(Type.String())

// As in the Secret, and the variables that have them.
const keyVariables = {
  'engine-key': 'TRAINYARD_ENGINE_KEY',
  'previous-engine-key': 'TRAINYARD_PREVIOUS_ENGINE_KEY',
  'webhook-key': 'TRAINYARD_WEBHOOK_KEY',
  'previous-webhook-key': 'TRAINYARD_PREVIOUS_WEBHOOK_KEY',
} as const

const schema = Type.Object({
  ...databaseSettings,
  ...tracingDatabaseSettings,
  ...artifactSettings,
  ...keySettings,
  TRAINYARD_ENGINE_KEY: key,
  TRAINYARD_PREVIOUS_ENGINE_KEY: key,
  TRAINYARD_WEBHOOK_KEY: key,
  TRAINYARD_PREVIOUS_WEBHOOK_KEY: key,
})

/** What is backed up, or restored into. */
export interface Installation {
  /** The addresses of Postgres itself: a snapshot needs a session. */
  databases: Record<DatabasePart, DatabaseUrl>
  artifacts: ArtifactStore
  /** By their names in the Secret. */
  keys: Record<string, string>
  log: Logger
  /** Tells the user what is done. */
  say: (line: string) => void
}

/** Whether the environment names an installation. Else the commands are for the local stack. */
export function hasInstallation(): boolean {
  return process.env['DATABASE_URL'] !== undefined || process.env['TRAINYARD_DATABASE_FOLDER'] !== undefined
}

/** The installation of the environment, which has the variables of an apiserver. @throws {ConfigError} */
export async function loadInstallation(): Promise<Installation> {
  const config = readConfig(schema, withKeyFiles(process.env))
  const { main, tracing } = readDatabases(config)
  const keys = Object.entries(keyVariables).map(([name, variable]) => [name, config[variable] ?? ''] as const)
  return {
    databases: { main: directUrlOf(main), tracing: directUrlOf(tracing) },
    artifacts: await openArtifactStore(config),
    keys: Object.fromEntries(keys.filter(([, value]) => value !== '')),
    log: createLogger('backup', 'error'),
    say: (line) => void process.stderr.write(`${line}\n`),
  }
}
