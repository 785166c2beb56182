/** The Postgres types of our columns. */
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

/** A column: its name and SQL type. `Value` is the TypeScript type of its values. */
export interface Column<Value> {
  readonly name: string
  readonly type: SqlType
  /** For the compiler only: it is never set. */
  readonly value?: Value
}

/** The columns of a table by the fields of its rows. Each column is declared once, in such a record. */
export type Columns = Readonly<Record<string, Column<unknown>>>

/** A row with these columns. */
export type RowOf<Table extends Columns> = {
  -readonly [Field in keyof Table]: Table[Field] extends Column<infer Value> ? Value : never
}

export function column<Value>(name: string, type: SqlType): Column<Value> {
  return { name, type }
}

export function pickColumns<Table extends Columns, Field extends keyof Table & string>(
  table: Table,
  ...fields: Field[]
): Pick<Table, Field> {
  return Object.fromEntries(fields.map((field) => [field, table[field]])) as Pick<Table, Field>
}

/** The list of a SELECT or RETURNING. Each column is named after its field. `alias` is the table's alias. */
export function selectColumns(columns: Columns, alias?: string): string {
  const table = alias === undefined ? '' : `${alias}.`
  return Object.entries(columns)
    .map(([field, { name }]) => `${table}${name}${field === name ? '' : ` AS "${field}"`}`)
    .join(', ')
}

/**
 * For an INSERT of rows that come as a JSON list. Returns the names of the columns, their fields in the record `alias`,
 * and the definition of that record for json_to_recordset.
 */
export function readRecords(columns: Columns, alias: string): { names: string; fields: string; definition: string } {
  const entries = Object.entries(columns)
  return {
    names: entries.map(([, { name }]) => name).join(', '),
    fields: entries.map(([field]) => `${alias}."${field}"`).join(', '),
    definition: entries.map(([field, { type }]) => `"${field}" ${type}`).join(', '),
  }
}

/** For an INSERT of one row. Returns the names of the columns, their parameters from `$1` on, and the values. */
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

/** JSON values become texts. The driver would turn an array into an array of Postgres. */
function toParameter(value: unknown, type: SqlType): unknown {
  const isJson = type === 'json' || type === 'jsonb'
  return isJson && value !== null ? JSON.stringify(value) : value
}
