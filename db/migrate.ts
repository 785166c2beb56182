import { readdirSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { runner } from 'node-pg-migrate'
import pg from 'pg'
import { backoffMs, type Backoff } from '../lib/backoff.ts'
import type { Logger } from '../lib/log.ts'
import type { DatabaseUrl } from './address.ts'
import { connectionConfig } from './connection-config.ts'
import { explainConnectionError } from './explain-connection-error.ts'
import { serverKeepalives } from './pool.ts'

const parts = {
  main: { folder: 'migrations', table: 'migrations' },
  tracing: { folder: 'tracing/migrations', table: 'tracing_migrations' },
}

/** Traces can have their own database. */
export type DatabasePart = keyof typeof parts

// A statement that waits for a lock makes all later ones wait behind it. Users wait for at most this time, and the
// migration is tried again later.
const lockTimeoutMs = 5_000
// Between two attempts, users work for longer than they have waited. The jitter lets one of several processes migrate.
const backoff: Backoff = { baseMs: 1_000, maxMs: 15_000 }

/** Applies the missing migrations one by one under an advisory lock. Every process can call it. */
export async function migrate(databaseUrl: DatabaseUrl, log: Logger, part: DatabasePart = 'main'): Promise<void> {
  await applyMigrations(databaseUrl, log, part)
}

/**
 * Brings an empty database to the schema of these migrations, for the rows of a backup. Does nothing if they are not the
 * first ones of this version. @returns those that this version does not have there
 */
export async function migrateTo(
  databaseUrl: DatabaseUrl,
  log: Logger,
  part: DatabasePart,
  names: readonly string[],
): Promise<string[]> {
  const files = readdirSync(path.join(import.meta.dirname, parts[part].folder)).filter((name) => name.endsWith('.sql'))
  const known = files.map((name) => path.parse(name).name).sort()
  const missing = names.filter((name, index) => known[index] !== name)
  if (missing.length === 0) await applyMigrations(databaseUrl, log, part, names.length)
  return missing
}

async function applyMigrations(
  databaseUrl: DatabaseUrl,
  log: Logger,
  part: DatabasePart,
  count = Infinity,
): Promise<void> {
  const { folder, table } = parts[part]
  const applied = await withClient(databaseUrl, log, (dbClient) =>
    runner({
      dbClient,
      dir: path.join(import.meta.dirname, folder),
      direction: 'up',
      migrationsTable: table,
      migrationsSchema: 'public',
      checkOrder: true,
      count,
      noLock: false,
      log: () => {},
    }),
  )
  if (applied.length > 0) log.info({ migrations: applied.map((migration) => migration.name) }, 'database migrated')
}

async function withClient<T>(
  databaseUrl: DatabaseUrl,
  log: Logger,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({
    ...connectionConfig(databaseUrl),
    // If a process dies while it migrates, its lock is soon released.
    options: serverKeepalives,
    lock_timeout: lockTimeoutMs,
    connectionTimeoutMillis: 5_000,
  })
  // When the connection breaks, the next query fails. Without a listener, the process would end.
  client.on('error', (error) => log.debug({ error }, 'database connection broken'))
  try {
    await client.connect()
    return await work(client)
  } finally {
    await client.end()
  }
}

/**
 * Migrates as soon as Postgres answers, which may start after its clients, and as soon as the locks are free. Stops when
 * `signal` is aborted.
 */
export async function migrateWhenReady(
  databaseUrl: DatabaseUrl,
  log: Logger,
  { part, signal }: { part?: DatabasePart; signal?: AbortSignal } = {},
): Promise<void> {
  for (let failures = 1; !signal?.aborted; failures++) {
    try {
      await migrate(databaseUrl, log, part)
      return
    } catch (error) {
      log.warn({ error, reason: explainConnectionError(error) }, 'database not migrated yet')
      const pauseMs = isLockTimeout(error) ? backoffMs(failures, backoff) : backoff.baseMs
      await delay(pauseMs, undefined, { signal }).catch(() => {})
    }
  }
}

function isLockTimeout(error: unknown): boolean {
  return error instanceof Error && (error as { code?: string }).code === '55P03'
}
