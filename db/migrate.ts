import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { runner } from 'node-pg-migrate'
import type { Logger } from '../lib/log.ts'
import { serverKeepalives } from './pool.ts'

const parts = {
  main: { folder: 'migrations', table: 'migrations' },
  tracing: { folder: 'tracing/migrations', table: 'tracing_migrations' },
}

/** Traces may have a database of their own. */
export type DatabasePart = keyof typeof parts

/** Applies the migrations that this database lacks, one at a time under an advisory lock: safe in every process. */
export async function migrate(databaseUrl: string, log: Logger, part: DatabasePart = 'main'): Promise<void> {
  const { folder, table } = parts[part]
  const applied = await runner({
    // A process that dies while it migrates does not keep the others waiting for its lock.
    databaseUrl: { connectionString: databaseUrl, options: serverKeepalives },
    dir: path.join(import.meta.dirname, folder),
    direction: 'up',
    migrationsTable: table,
    migrationsSchema: 'public',
    checkOrder: true,
    noLock: false,
    log: () => {},
  })
  if (applied.length > 0) log.info({ migrations: applied.map((migration) => migration.name) }, 'database migrated')
}

/** Migrates as soon as Postgres answers, which may come up after its clients; gives up when `signal` is aborted. */
export async function migrateWhenReady(
  databaseUrl: string,
  log: Logger,
  { part, signal }: { part?: DatabasePart; signal?: AbortSignal } = {},
): Promise<void> {
  while (!signal?.aborted) {
    try {
      await migrate(databaseUrl, log, part)
      return
    } catch (error) {
      log.warn({ error }, 'database not migrated yet')
      await delay(1_000, undefined, { signal }).catch(() => {})
    }
  }
}
