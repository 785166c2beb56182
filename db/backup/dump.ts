import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import path from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import type { DatabaseUrl } from '../address.ts'
import { connectionConfig } from '../connection-config.ts'
import type { DatabasePart } from '../migrate.ts'
import { serverKeepalives } from '../pool.ts'
import { partContents, selectSequences, selectTables, type PartBackup, type TableBackup } from './catalog.ts'

/** The state of a database at one time, while its connection is open. */
export interface Snapshot {
  /** Writes the rows of a part into files of a folder. */
  write: (part: DatabasePart, folder: string) => Promise<PartBackup>
  close: () => Promise<void>
}

/** Opens a connection that sees the database as it is now, whatever others write. It has no time limits. */
export async function openSnapshot(url: DatabaseUrl): Promise<Snapshot> {
  const client = await connectForBackup(url)
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
  // The first query of the transaction takes the snapshot.
  await client.query('SELECT 1')
  return { write: (part, folder) => writePart(client, part, folder), close: () => client.end() }
}

/** A connection for statements that may take hours. */
export async function connectForBackup(url: DatabaseUrl): Promise<pg.Client> {
  const config = { ...connectionConfig(url), connectionTimeoutMillis: 5_000, keepAlive: true }
  const client = new pg.Client({ ...config, options: serverKeepalives, application_name: 'trainyard backup' })
  client.on('error', () => {})
  await client.connect()
  // The role may have limits of its own.
  await client.query('SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0')
  return client
}

async function writePart(client: pg.Client, part: DatabasePart, folder: string): Promise<PartBackup> {
  const { schemas, migrations } = partContents[part]
  const { rows: applied } = await client.query<{ name: string }>(`SELECT name FROM ${migrations} ORDER BY id`)
  const { rows: found } = await client.query<Pick<TableBackup, 'name' | 'columns'>>(selectTables, [schemas])
  const tables: TableBackup[] = []
  for (const table of found) tables.push(await writeTable(client, table, folder))
  const { rows: sequences } = await client.query<{ name: string; value: string | null }>(selectSequences, [schemas])
  return {
    migrations: applied.map(({ name }) => name),
    weeks: part === 'tracing' ? await listWeeks(client) : [],
    tables,
    sequences: Object.fromEntries(sequences.map(({ name, value }) => [name, value])),
  }
}

async function listWeeks(client: pg.Client): Promise<number[]> {
  const { rows } = await client.query<{ week: number }>(
    `SELECT substring(c.relname FROM '^calls_w([0-9]+)$')::int AS week
     FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     WHERE i.inhparent = 'tracing.calls'::regclass AND c.relname ~ '^calls_w[0-9]+$' ORDER BY 1`,
  )
  return rows.map(({ week }) => week)
}

async function writeTable(
  client: pg.Client,
  { name, columns }: Pick<TableBackup, 'name' | 'columns'>,
  folder: string,
): Promise<TableBackup> {
  const file = `${name.replaceAll('"', '')}.copy.gz`
  const rows = client.query(copyTo(`COPY (SELECT ${columns.join(', ')} FROM ${name}) TO STDOUT`))
  const hash = createHash('sha256')
  const hashing = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      hash.update(chunk)
      done(null, chunk)
    },
  })
  await pipeline(rows, createGzip(), hashing, createWriteStream(path.join(folder, file), { flags: 'wx', mode: 0o600 }))
  return { name, columns, rows: rows.rowCount, file, digest: hash.digest('hex') }
}
