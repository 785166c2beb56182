/** The types of Postgres that our columns have. */
export type SqlType =
  | 'bigint'
  | 'boolean'
  | 'double precision'
  | 'integer'
  | 'json'
  | 'jsonb'
  | 'smallint'
  | 'text'
  | 'text[]'
  | 'timestamptz'
  | 'uuid'

/** A column: its name and its type in SQL, and `Value`, the type of its values in TypeScript. */
export interface Column<Value> {
  readonly name: string
  readonly type: SqlType
  /** For the compiler only: no column has this member. */
  readonly value?: Value
}

/** Columns of a table by the fields that rows have in TypeScript. A column is declared once, in such a record. */
export type Columns = Readonly<Record<string, Column<unknown>>>

/** A row with these columns. */
export type RowOf<Table extends Columns> = {
  -readonly [Field in keyof Table]: Table[Field] extends Column<infer Value> ? Value : never
}

export function column<Value>(name: string, type: SqlType): Column<Value> {
  return { name, type }
}

/** Some columns of a table. */
export function pickColumns<Table extends Columns, Field extends keyof Table & string>(
  table: Table,
  ...fields: Field[]
): Pick<Table, Field> {
  return Object.fromEntries(fields.map((field) => [field, table[field]])) as Pick<Table, Field>
}

/** The list of a SELECT or RETURNING: each column under the name of its field. `alias` is that of the table, if it has one. */
export function selectColumns(columns: Columns, alias?: string): string {
  const table = alias === undefined ? '' : `${alias}.`
  return Object.entries(columns)
    .map(([field, { name }]) => `${table}${name}${field === name ? '' : ` AS "${field}"`}`)
    .join(', ')
}

/**
 * For an INSERT of rows that come as a JSON list: the names of the columns, their fields in the record `alias`, and the
 * definition of that record for json_to_recordset.
 */
export function readRecords(columns: Columns, alias: string): { names: string; fields: string; definition: string } {
  const entries = Object.entries(columns)
  return {
    names: entries.map(([, { name }]) => name).join(', '),
    fields: entries.map(([field]) => `${alias}."${field}"`).join(', '),
    definition: entries.map(([field, { type }]) => `"${field}" ${type}`).join(', '),
  }
}

/** For an INSERT of one row: the names of the columns, their parameters from `$1` on, and the values of these. */
export function insertRow<Table extends Columns>(
  columns: Table,
  row: RowOf<Table>,
): { names: string; parameters: string; values: unknown[] } {
  const entries = Object.entries(columns)
  return {
    names: entries.map(([, { name }]) => name).join(', '),
    parameters: entries.map((_, index) => `$${index + 1}`).join(', '),
    values: entries.map(([field, { type }]) => toParameter(row[field], type)),
  }
}

/** The driver makes an array of Postgres of an array of JavaScript, unless it is JSON already. */
function toParameter(value: unknown, type: SqlType): unknown {
  const isJson = type === 'json' || type === 'jsonb'
  return isJson && value !== null ? JSON.stringify(value) : value
}
