import type { Pool } from '../../db/pool.ts'
import { FolderStore } from '../../artifacts/store/folder-store.ts'
import { createLogger } from '../../lib/log.ts'
import type { Installation } from '../../operator/backup/config.ts'
import { webhookKey } from './api-server.ts'
import type { TestDatabase } from './database.ts'

/** A database and a folder of artifacts, as the commands for backups see an installation. */
export function installationOf(database: Pick<TestDatabase, 'databaseUrl'>, store: string): Installation {
  return {
    databases: { main: database.databaseUrl, tracing: database.databaseUrl },
    artifacts: new FolderStore(store),
    keys: { 'webhook-key': webhookKey },
    log: createLogger('test', 'silent'),
    say: () => {},
  }
}

/** What our schemas consist of, with whether their triggers and constraints hold. */
export async function describeSchema(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ line: string }>(
    `SELECT conrelid::regclass || ' ' || conname || ' ' || convalidated || ' ' || pg_get_constraintdef(oid) AS line
     FROM pg_constraint WHERE connamespace::regnamespace::text IN ('auth', 'training', 'tracing') AND contype <> 'n'
     UNION SELECT tgrelid::regclass || ' ' || tgname || ' ' || tgenabled::text FROM pg_trigger WHERE NOT tgisinternal
     UNION SELECT attrelid::regclass || ' ' || attname || ' ' || atttypid::regtype FROM pg_attribute a
       JOIN pg_class c ON c.oid = a.attrelid
       WHERE c.relnamespace::regnamespace::text IN ('auth', 'training', 'tracing') AND c.relkind IN ('r', 'p')
         AND attnum > 0 AND NOT attisdropped
     ORDER BY 1`,
  )
  return rows.map(({ line }) => line)
}
