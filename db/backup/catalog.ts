import type { DatabasePart } from '../migrate.ts'

/** What a backup holds of one part of the database. */
export interface PartBackup {
  /** The names of its migrations, in order. The tables are as these have left them. */
  migrations: string[]
  /** The weeks whose calls have a partition of their own. */
  weeks: number[]
  tables: TableBackup[]
  /** The last values of sequences, by their qualified name. Null: it was never used. */
  sequences: Record<string, string | null>
}

/** The rows of a table in a file. */
export interface TableBackup {
  /** The qualified name, quoted where that is needed. */
  name: string
  columns: string[]
  rows: number
  file: string
  /** The SHA-256 of the file. */
  digest: string
}

/** The schemas of each part, and the table of its migrations. */
export const partContents: Record<DatabasePart, { schemas: string[]; migrations: string }> = {
  main: { schemas: ['auth', 'training'], migrations: 'public.migrations' },
  tracing: { schemas: ['tracing'], migrations: 'public.tracing_migrations' },
}

/** Tables of a part with their columns, without partitions and without what Postgres itself loses in a crash. $1: the schemas. */
export const selectTables = `
  SELECT format('%I.%I', n.nspname, c.relname) AS name,
    (SELECT array_agg(quote_ident(a.attname) ORDER BY a.attnum) FROM pg_attribute a
      WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '') AS columns
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = ANY ($1) AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relpersistence = 'p'
  ORDER BY 1`

/** Sequences of a part. $1: the schemas. */
export const selectSequences = `
  SELECT format('%I.%I', schemaname, sequencename) AS name, last_value::text AS value
  FROM pg_sequences WHERE schemaname = ANY ($1) ORDER BY 1`
