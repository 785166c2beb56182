import type { Pool } from '../pool.ts'

const chunkRows = 1_000

const writeTable = `added AS (
    INSERT INTO tracing.tables (project, digest, row_count)
    SELECT $1, $2, json_array_length($3::json) ON CONFLICT DO NOTHING RETURNING digest
  ), placed AS (
    INSERT INTO tracing.table_chunks (project, table_digest, chunk, row_digests)
    SELECT $1, added.digest, (d.ordinal - 1) / ${chunkRows}, array_agg(d.digest ORDER BY d.ordinal)
    FROM added, json_array_elements_text($3::json) WITH ORDINALITY AS d (digest, ordinal)
    GROUP BY 2, 3
  )`

// The rows are inserted in the order of their digests, so that concurrent inserts of the same rows do not deadlock.
const writeRows = `rows AS (
    INSERT INTO tracing.table_rows (project, digest, val, size)
    SELECT $1, r.digest, r.val, octet_length(r.val::text)
    FROM ROWS FROM (json_array_elements_text($4::json), json_array_elements($5::json)) AS r (digest, val)
    ORDER BY r.digest COLLATE "C"
    ON CONFLICT DO NOTHING
  )`

/** The order of a table's rows. The table's digest is computed from theirs. */
export interface TableOrder {
  digest: string
  rowDigests: string[]
}

/** Creates a table in one statement. Existing rows and tables stay as they are. */
export async function addTable(
  pool: Pool,
  project: number,
  { digest, rowDigests, rows }: TableOrder & { rows?: { digests: string[]; array: string } },
): Promise<void> {
  const order = [project, digest, JSON.stringify(rowDigests)]
  if (rows) {
    const values = [...order, JSON.stringify(rows.digests), rows.array]
    await pool.query(`WITH ${writeTable}, ${writeRows} SELECT`, values)
  } else await pool.query(`WITH ${writeTable} SELECT`, order)
}

/** Reads the digests of a table's rows in order, in chunks. Undefined if there is no such table. */
export async function readOrder(pool: Pool, project: number, digest: string): Promise<string[][] | undefined> {
  // Parsing JSON is far cheaper than parsing an array in Postgres' form.
  const { rows } = await pool.query<{ rowDigests: string | null }>(
    `SELECT array_to_json(c.row_digests) AS "rowDigests" FROM tracing.tables t
     LEFT JOIN tracing.table_chunks c ON c.project = t.project AND c.table_digest = t.digest
     WHERE t.project = $1 AND t.digest = $2 ORDER BY c.chunk`,
    [project, digest],
  )
  return rows.length === 0
    ? undefined
    : rows.flatMap(({ rowDigests }) => (rowDigests ? [JSON.parse(rowDigests) as string[]] : []))
}

/** A row of a table. Its value is there if all values up to it fit into `valueBytes`. */
export interface TableRow {
  digest: string
  /** Its index in the table, from 0. */
  index: number
  size: number
  val: string | null
}

export interface TablePage {
  limit: number | null
  offset: number
  valueBytes: number
}

const positions = `SELECT d.digest, c.chunk * ${chunkRows} + d.ordinal - 1 AS index
  FROM tracing.table_chunks c, unnest(c.row_digests) WITH ORDINALITY AS d (digest, ordinal)
  WHERE c.project = $1 AND c.table_digest = $2`

/** Reads a page of a table's rows in order. Indices outside of the table are left out. */
export async function pageTable(
  pool: Pool,
  project: number,
  { digest, limit, offset, valueBytes }: TablePage & { digest: string },
): Promise<TableRow[]> {
  const end = limit === null ? null : offset + limit
  const { rows } = await pool.query<TableRow>(
    `SELECT r.digest, p.index, r.size, CASE WHEN sum(r.size) OVER (ORDER BY p.index) <= $5 THEN r.val END AS val
     FROM (
       ${positions} AND c.chunk >= $3::bigint / ${chunkRows} AND ($4::bigint IS NULL OR c.chunk <= $4 / ${chunkRows})
     ) p JOIN tracing.table_rows r ON r.project = $1 AND r.digest = p.digest
     WHERE p.index >= $3 AND ($4 IS NULL OR p.index < $4)
     ORDER BY p.index`,
    [project, digest, offset, end, valueBytes],
  )
  return rows
}

/** The number of parameters that `queryTable` uses itself. */
export const queryTableParameters = 6

/** An ORDER BY list over `r.val` and its parameters. Their numbers follow those of `queryTable`. */
export interface RowSort {
  sql: string
  values: unknown[]
}

/** Reads a sorted page of a table's rows among these digests. */
export async function queryTable(
  pool: Pool,
  project: number,
  {
    digest,
    limit,
    offset,
    valueBytes,
    digests,
    sort,
  }: TablePage & {
    digest: string
    digests: string[] | null
    sort: RowSort | undefined
  },
): Promise<TableRow[]> {
  const order = [...(sort ? [sort.sql] : []), 'p.index'].join(', ')
  const { rows } = await pool.query<TableRow>(
    `SELECT page.digest, index, page.size, CASE WHEN sum(page.size) OVER (ORDER BY ordinal) <= $6 THEN stored.val END AS val
     FROM (
       SELECT r.digest, p.index, r.size, row_number() OVER (ORDER BY ${order}) AS ordinal FROM (
         ${positions} AND ($3::text[] IS NULL OR d.digest = ANY($3))
       ) p JOIN tracing.table_rows r ON r.project = $1 AND r.digest = p.digest
       ORDER BY ordinal LIMIT $4 OFFSET $5
     ) page JOIN tracing.table_rows stored ON stored.project = $1 AND stored.digest = page.digest
     ORDER BY ordinal`,
    [project, digest, digests, limit, offset, valueBytes, ...(sort?.values ?? [])],
  )
  return rows
}

/** Reads the table's rows among these digests, each once, with values of up to `valueBytes` in total. */
export async function readTableRows(
  pool: Pool,
  project: number,
  { table, digests, valueBytes }: { table: string; digests: string[]; valueBytes: number },
): Promise<Omit<TableRow, 'index'>[]> {
  const { rows } = await pool.query<Omit<TableRow, 'index'>>(
    `SELECT r.digest, r.size, CASE WHEN sum(r.size) OVER (ORDER BY r.digest) <= $4 THEN r.val END AS val
     FROM (
       SELECT DISTINCT d.digest FROM tracing.table_chunks c, unnest(c.row_digests) AS d (digest)
       WHERE c.project = $1 AND c.table_digest = $2 AND d.digest = ANY($3)
     ) d JOIN tracing.table_rows r ON r.project = $1 AND r.digest = d.digest`,
    [project, table, digests, valueBytes],
  )
  return rows
}

/** Reads the values of rows by digest. */
export async function readRows(pool: Pool, project: number, digests: string[]): Promise<Map<string, string>> {
  const { rows } = await pool.query<{ digest: string; val: string }>(
    'SELECT digest, val FROM tracing.table_rows WHERE project = $1 AND digest = ANY($2)',
    [project, digests],
  )
  return new Map(rows.map(({ digest, val }) => [digest, val]))
}

export interface TableStatistics {
  digest: string
  rowCount: number
  /** The bytes of its rows, if requested. */
  size: number | null
}

/** Reads the statistics of existing tables. */
export async function measureTables(
  pool: Pool,
  project: number,
  { digests, withSize }: { digests: string[]; withSize: boolean },
): Promise<TableStatistics[]> {
  const { rows } = await pool.query<TableStatistics>(
    `SELECT t.digest, t.row_count AS "rowCount", CASE WHEN $3 THEN (
       SELECT coalesce(sum(r.size), 0)::bigint FROM tracing.table_chunks c, unnest(c.row_digests) AS d (digest),
         tracing.table_rows r
       WHERE c.project = $1 AND c.table_digest = t.digest AND r.project = $1 AND r.digest = d.digest) END AS size
     FROM tracing.tables t WHERE t.project = $1 AND t.digest = ANY($2)`,
    [project, digests, withSize],
  )
  return rows
}
