import { readLabels } from '../../../db/tracing/object-labels.ts'
import {
  listVersions,
  readVersions,
  type ListedVersion,
  type VersionFilter,
  type VersionOrder,
  type VersionPage,
} from '../../../db/tracing/object-lists.ts'
import { fillValues } from '../fill-values.ts'
import type { Project } from '../projects.ts'
import { checkNames } from '../query/params.ts'
import { partBytes, type ReadDeps } from '../read-memory.ts'
import { readPage } from '../read-page.ts'
import { presentVersion } from './present.ts'
import type { ObjectsQuery } from './schema.ts'

// The rows of this many versions are in memory at once, with some of their values.
const versionsAtOnce = 10_000

/**
 * Lists the live versions that a query selects, as JSON texts. The query is validated at once. Versions are read while
 * the list is written.
 */
export function listObjects(deps: ReadDeps, project: Project, query: ObjectsQuery): AsyncGenerator<string> {
  const page = { order: readOrder(query.sort_by), ...readPage(query) }
  return presentPages(deps, { project, query, page, filter: readFilter(query.filter) })
}

async function* presentPages(
  deps: ReadDeps,
  { project, query, page, filter }: { project: Project; query: ObjectsQuery; page: VersionPage; filter: VersionFilter },
): AsyncGenerator<string> {
  const valueBytes = query.metadata_only === true ? 0 : partBytes
  const end = page.limit === null ? Infinity : page.offset + page.limit
  for (let offset = page.offset; offset < end; offset += versionsAtOnce) {
    const part = { ...page, offset, limit: Math.min(versionsAtOnce, end - offset) }
    const listed = await listVersions(deps.pool, project.number, { filter, page: part, valueBytes })
    yield* presentListed(deps, { project, query, listed })
    if (listed.length < part.limit) return
  }
}

async function* presentListed(
  deps: ReadDeps,
  { project, query, listed }: { project: Project; query: ObjectsQuery; listed: ListedVersion[] },
): AsyncGenerator<string> {
  const withSize = query.include_storage_size === true
  const found = query.include_tags_and_aliases ? await readLabels(deps.pool, project.number, listed) : []
  const labels = new Map(found.map((own, index) => [nameVersion(listed[index]!), own]))
  const versions = query.metadata_only === true ? listed : fillVersions(deps, project, listed)
  for await (const version of versions) {
    const val = query.metadata_only === true ? {} : { val: version.val! }
    yield presentVersion(project, version, { ...val, withSize, labels: labels.get(nameVersion(version)) })
  }
}

function fillVersions({ pool, reading }: ReadDeps, project: Project, listed: ListedVersion[]) {
  return fillValues(listed, reading, async (names) => {
    const found = await readVersions(pool, project.number, { names, valueBytes: Number.MAX_SAFE_INTEGER })
    const values = new Map(found.map((version) => [nameVersion(version), version.val ?? undefined]))
    return names.map((version) => values.get(nameVersion(version)))
  })
}

function nameVersion({ objectId, digest }: { objectId: string; digest: string }): string {
  return `${objectId}:${digest}`
}

/** An empty list means no filter. @throws {HttpError} 400 for lists that are too large */
function readFilter(filter: ObjectsQuery['filter']): VersionFilter {
  const orNull = (list: string[] | null | undefined) => (list?.length ? list : null)
  const wanted = {
    objectIds: orNull(filter?.object_ids),
    isOp: filter?.is_op ?? null,
    latestOnly: filter?.latest_only ?? null,
    baseObjectClasses: orNull(filter?.base_object_classes),
    excludeBaseObjectClasses: orNull(filter?.exclude_base_object_classes),
    leafObjectClasses: orNull(filter?.leaf_object_classes),
    tags: orNull(filter?.tags),
    aliases: orNull(filter?.aliases),
  }
  checkNames(...Object.values(wanted).filter(Array.isArray))
  return wanted
}

/** Unknown fields are ignored, as the clients' usual servers do. */
function readOrder(sortBy: ObjectsQuery['sort_by']): VersionOrder[] {
  const order: VersionOrder[] = []
  for (const { field, direction } of sortBy ?? []) {
    const isKnown = field === 'object_id' || field === 'created_at'
    if (isKnown && !order.some(({ by }) => by === field)) order.push({ by: field, direction })
  }
  return order
}
