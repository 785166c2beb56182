import { readLabels, type VersionLabels } from '../../../db/tracing/object-labels.ts'
import {
  listVersions,
  readVersions,
  type ListedVersion,
  type VersionFilter,
  type VersionOrder,
} from '../../../db/tracing/object-lists.ts'
import type { TraceDeps } from '../deps.ts'
import { fillValues, valueBytesAtOnce } from '../fill-values.ts'
import type { Project } from '../projects.ts'
import { readPage } from '../read-page.ts'
import { presentVersion } from './present.ts'
import type { ObjectsQuery } from './schema.ts'

/**
 * The live versions that a query asks for, as JSON texts. What can be wrong with the query is found out at once; values
 * are read while the list is written.
 */
export async function listObjects(
  { pool }: Pick<TraceDeps, 'pool'>,
  project: Project,
  query: ObjectsQuery,
): Promise<AsyncIterable<string>> {
  const withValues = query.metadata_only !== true
  const listed = await listVersions(pool, project.number, {
    filter: readFilter(query.filter),
    page: { order: readOrder(query.sort_by), ...readPage(query) },
    valueBytes: withValues ? valueBytesAtOnce : 0,
  })
  const labels = query.include_tags_and_aliases ? await readLabels(pool, project.number, listed) : undefined
  return presentAll(project, withValues ? fillValues(listed, readBatch) : listed)

  async function readBatch(batch: ListedVersion[]) {
    const found = await readVersions(pool, project.number, { names: batch, valueBytes: Number.MAX_SAFE_INTEGER })
    const values = new Map(found.map((version) => [nameVersion(version), version.val ?? undefined]))
    return batch.map((version) => values.get(nameVersion(version)))
  }

  async function* presentAll(to: Project, versions: Iterable<ListedVersion> | AsyncIterable<ListedVersion>) {
    const places = labels && new Map(listed.map((version, index) => [nameVersion(version), index]))
    for await (const version of versions) {
      const ofVersion: VersionLabels | undefined = places && labels?.[places.get(nameVersion(version))!]
      const val = withValues ? { val: version.val! } : {}
      yield presentVersion(to, version, { ...val, withSize: query.include_storage_size === true, labels: ofVersion })
    }
  }
}

function nameVersion({ objectId, digest }: { objectId: string; digest: string }): string {
  return `${objectId}:${digest}`
}

/** An empty list leaves nothing out, as if it were not there. */
function readFilter(filter: ObjectsQuery['filter']): VersionFilter {
  const orNull = (list: string[] | null | undefined) => (list?.length ? list : null)
  return {
    objectIds: orNull(filter?.object_ids),
    isOp: filter?.is_op ?? null,
    latestOnly: filter?.latest_only ?? null,
    baseObjectClasses: orNull(filter?.base_object_classes),
    excludeBaseObjectClasses: orNull(filter?.exclude_base_object_classes),
    leafObjectClasses: orNull(filter?.leaf_object_classes),
    tags: orNull(filter?.tags),
    aliases: orNull(filter?.aliases),
  }
}

/** Other fields are left alone, as they are by the servers that clients know. */
function readOrder(sortBy: ObjectsQuery['sort_by']): VersionOrder[] {
  const order: VersionOrder[] = []
  for (const { field, direction } of sortBy ?? []) {
    const isKnown = field === 'object_id' || field === 'created_at'
    if (isKnown && !order.some(({ by }) => by === field)) order.push({ by: field, direction })
  }
  return order
}
