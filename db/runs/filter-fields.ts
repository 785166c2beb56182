import { sqlRunState } from './table.ts'

/** A filter of runs that cannot be used. */
export class FilterError extends Error {
  override name = 'FilterError'
}

/** SQL of a field, and whether its values are JSON. */
export interface Field {
  sql: string
  type: 'text' | 'timestamptz' | 'json' | 'tags'
}

const fields: Readonly<Record<string, Field>> = {
  state: { sql: sqlRunState, type: 'text' },
  name: { sql: 'r.name', type: 'text' },
  displayName: { sql: 'coalesce(r.display_name, r.name)', type: 'text' },
  description: { sql: 'r.description', type: 'text' },
  notes: { sql: 'r.notes', type: 'text' },
  group: { sql: 'r.group_name', type: 'text' },
  jobType: { sql: 'r.job_type', type: 'text' },
  host: { sql: 'r.host', type: 'text' },
  commit: { sql: 'r.commit_hash', type: 'text' },
  username: { sql: 'r.entity', type: 'text' },
  sweep: { sql: 'NULL::text', type: 'text' },
  tags: { sql: 'r.tags', type: 'tags' },
  createdAt: { sql: 'r.created_at', type: 'timestamptz' },
  heartbeatAt: { sql: 'r.heartbeat_at', type: 'timestamptz' },
  duration: { sql: 'to_jsonb(extract(epoch FROM r.heartbeat_at - r.created_at))', type: 'json' },
}

const otherNames: Readonly<Record<string, string>> = {
  display_name: 'displayName',
  job_type: 'jobType',
  created_at: 'createdAt',
  updated_at: 'heartbeatAt',
  updatedAt: 'heartbeatAt',
  heartbeat_at: 'heartbeatAt',
  user: 'username',
  'user.username': 'username',
  run_id: 'name',
}

// A larger value is there, and equals nothing: filters are texts of at most 64 Ki characters.
const maxValueBytes = 64 * 1024
const largeValue = `'"(a large value)"'::jsonb`

/** A member of a run's config or summary, which has one of two paths. */
interface Member {
  document: 'config' | 'summary'
  paths: readonly [string[], string[]]
}

/** The values of a statement about runs, and the members of configs and summaries that it reads. */
export class Parameters {
  readonly values: unknown[]
  /** How often members were asked for. */
  uses = 0
  /** By its document and its paths, each member with the SQL of its paths. */
  readonly #members = new Map<string, { document: Member['document']; paths: string[] }>()

  constructor(values: unknown[]) {
    this.values = values
  }

  /** Adds a value. Returns its SQL. */
  add(value: unknown): string {
    this.values.push(value)
    return `$${this.values.length}`
  }

  /** Adds a member. Returns the SQL of its value. */
  addMember({ document, paths }: Member): string {
    this.uses++
    const key = JSON.stringify([document, paths])
    if (!this.#members.has(key))
      this.#members.set(key, { document, paths: paths.map((path) => `${this.add(path)}::text[]`) })
    return `r.members[${[...this.#members.keys()].indexOf(key) + 1}]`
  }

  /**
   * The SQL of runs with their members. A config may have many megabytes. Postgres unpacks it once for each run: the
   * items of an array are unpacked. Members are looked up in rows of their own, because Postgres frees the memory of an
   * expression after each row. All but small values are replaced.
   */
  selectRuns(condition: string): string {
    if (this.#members.size === 0) return `(SELECT * FROM training.runs r WHERE ${condition}) r`
    const members = [...this.#members.values()]
    const documents = [...new Set(members.map(({ document }) => document))]
    const rows = members.map(
      ({ document, paths }, index) => `(${index}, ${documents.indexOf(document) + 1}, ${paths.join(', ')})`,
    )
    return `(SELECT *, (
        SELECT (
          SELECT array_agg(CASE WHEN pg_column_size(value) > ${maxValueBytes} THEN ${largeValue} ELSE value END ORDER BY index)
          FROM (
            SELECT index, coalesce(documents[document] #> first, documents[document] #> second) AS value
            FROM (VALUES ${rows.join(', ')}) AS wanted (index, document, first, second)
          ) AS found)
        FROM (SELECT ARRAY[${documents.map((document) => `r.${document}`).join(', ')}] AS documents OFFSET 0) AS unpacked) AS members
      FROM training.runs r WHERE ${condition} OFFSET 0) r`
  }
}

/** Finds the SQL of a field by the name that clients use. @throws {FilterError} for an unknown one */
export function findField(name: string, parameters: Parameters): Field {
  const known = Object.hasOwn(otherNames, name) ? otherNames[name]! : name
  if (Object.hasOwn(fields, known)) return fields[known]!
  const [root, ...path] = known.split('.')
  if (root === 'config' && path.length > 0)
    return { sql: parameters.addMember({ document: 'config', paths: configPaths(path) }), type: 'json' }
  if (['summary_metrics', 'summaryMetrics', 'summary'].includes(root!) && path.length > 0)
    return { sql: parameters.addMember({ document: 'summary', paths: [[path.join('.')], path] }), type: 'json' }
  throw new FilterError(
    `Runs have no field ${JSON.stringify(name.slice(0, 100))}. There are ${Object.keys(fields).join(', ')}, ` +
      'config.KEY and summary_metrics.KEY',
  )
}

/** A key of a config, whose value is in the member `value`. Its name may contain dots. */
function configPaths(path: string[]): [string[], string[]] {
  const bare = path.at(-1) === 'value' && path.length > 1 ? path.slice(0, -1) : path
  const [key, ...rest] = bare[1] === 'value' ? [bare[0]!, ...bare.slice(2)] : [bare[0]!, ...bare.slice(1)]
  return [
    [bare.join('.'), 'value'],
    [key, 'value', ...rest],
  ]
}
