import { parseText } from '../../../lib/json/parse-text.ts'
import { findVersion, type ObjectVersion } from '../../../db/tracing/objects.ts'
import type { Pool } from '../../../db/pool.ts'
import { HttpError } from '../../../lib/http/http-error.ts'
import { JsonMembers } from '../../../lib/json/members.ts'
import { JsonText } from '../../../lib/json/json-text.ts'
import { rawList } from '../../../lib/json/raw.ts'
import type { RequestState } from '../../accounts/context.ts'
import type { StorageUse } from '../../accounts/limits/storage.ts'
import { errors } from '../../errors/table.ts'
import { createNextObject } from '../objects/create-object.ts'
import { checkObjectId } from '../objects/object-names.ts'
import type { ValueInspector } from '../objects/value-inspector.ts'
import type { Project } from '../projects.ts'
import { createTable } from '../tables/create-table.ts'
import { updateTable } from '../tables/update-table.ts'
import { measureTables } from '../../../db/tracing/tables.ts'

export interface AddRowsDeps {
  pool: Pool
  inspector: ValueInspector
  storage: StorageUse
}

interface NewRows {
  name: string
  /** JSON texts of objects. */
  rows: readonly string[]
  state: RequestState
}

/** A version of a data set with the count of its rows. */
export interface DataSetVersion {
  version: ObjectVersion
  rowCount: number
}

// A data set refers to its rows, so its own value is small.
const maxValueBytes = 64 * 1024
// Others may add rows at the same time. Then the rows are added to theirs.
const maxAttempts = 5

/**
 * Adds rows to a data set: publishes a version with the rows of the latest one and these, or the first version.
 *
 * @throws {HttpError} 403 for an invalid name, or if the entity has no storage left, 409 if the name is that of
 * something else
 */
export async function addRows(deps: AddRowsDeps, project: Project, added: NewRows): Promise<DataSetVersion> {
  checkObjectId(added.name)
  const { caller, limits } = added.state
  const bytes = added.rows.reduce((sum, row) => sum + row.length, 0)
  const incoming = await deps.storage.admitTraces({
    entity: caller.entity,
    limit: limits.storedBytes,
    announced: bytes,
  })
  try {
    incoming.add(bytes)
    const made = await addAfterOthers(deps, project, added)
    incoming.keep()
    return made
  } finally {
    incoming.release()
  }
}

async function addAfterOthers(deps: AddRowsDeps, project: Project, added: NewRows): Promise<DataSetVersion> {
  const { name: objectId, state } = added
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const before = await findDataSet(deps.pool, project, objectId)
    const table = await growTable(deps, project, { base: before.table, rows: added.rows })
    const val = writeDataSet(before.val, objectId, `weave:///${project.id}/table/${table}`)
    const wbUserId = state.caller.keyId
    const digest = await createNextObject(deps, project, { objectId, val, wbUserId, after: before.digest })
    if (digest !== undefined) return readBack(deps.pool, project, { objectId, digest, table })
  }
  throw new HttpError(errors.conflict, `Other requests kept publishing ${objectId} first. Send this request again.`)
}

interface Before {
  /** The digest of the latest version, deleted or not; null if there never was one. */
  digest: string | null
  val?: string
  /** The digest of its table. */
  table?: string
}

async function findDataSet(pool: Pool, project: Project, objectId: string): Promise<Before> {
  const found = await findVersion(pool, project.number, { objectId, selector: 'latest', valueBytes: maxValueBytes })
  if (!found) return { digest: null }
  const { digest, val, deletedAt } = found
  if (deletedAt !== null && found.kind === 'object') return { digest }
  const table = found.leafObjectClass === 'Dataset' && val !== null ? readTable(project, val) : undefined
  if (table !== undefined) return { digest, val: val!, table }
  throw new HttpError(errors.conflict, `${objectId} is not a data set of this project with rows. Choose another name.`)
}

/** The table in a data set's value. */
function readTable(project: Project, val: string): string | undefined {
  const { rows } = parseText(val) as { rows?: unknown }
  const prefix = `weave:///${project.id}/table/`
  return typeof rows === 'string' && rows.startsWith(prefix) ? rows.slice(prefix.length) : undefined
}

type TableDeps = Parameters<typeof createTable>[0]

async function growTable(
  deps: TableDeps,
  project: Project,
  { base, rows }: { base: string | undefined; rows: readonly string[] },
): Promise<string> {
  const texts = (row: string) => new JsonText(Buffer.from(row))
  if (base === undefined) {
    const made = await createTable(deps, project, { rows: texts(rawList(rows)), expectedDigest: undefined })
    return made.digest
  }
  const updates = rows.map((row) => ({ append: { row: texts(row) } }))
  return (await updateTable(deps, project, { project_id: project.id, base_digest: base, updates })).digest
}

/** The value of a version: as clients publish it, or the former one with other rows. */
function writeDataSet(former: string | undefined, name: string, rows: string): string {
  if (former !== undefined) return new JsonMembers(Buffer.from(former)).change({ rows }).toString()
  const classes = { _class_name: 'Dataset', _bases: ['Object', 'BaseModel'] }
  return JSON.stringify({ _type: 'Dataset', name, description: null, rows, ...classes })
}

async function readBack(
  pool: Pool,
  project: Project,
  { objectId, digest, table }: { objectId: string; digest: string; table: string },
): Promise<DataSetVersion> {
  const version = await findVersion(pool, project.number, { objectId, selector: { digest }, valueBytes: 0 })
  const [counted] = await measureTables(pool, project.number, { digests: [table], withSize: false })
  return { version: version!, rowCount: counted!.rowCount }
}
