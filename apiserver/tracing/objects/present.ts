import type { VersionLabels } from '../../../db/tracing/object-labels.ts'
import type { ObjectVersion } from '../../../db/tracing/objects.ts'
import { addMember } from '../../../lib/json/raw.ts'
import type { Project } from '../projects.ts'

/** What is presented of a version beside its row. */
export interface Shown {
  /** The text of its value. The default is an empty object. */
  val?: string
  withSize?: boolean
  labels?: VersionLabels | undefined
}

/** The JSON text of a version. The text of its value stays unchanged. */
export function presentVersion(
  project: Project,
  version: ObjectVersion,
  { val = '{}', withSize, labels }: Shown,
): string {
  const members = JSON.stringify({
    project_id: project.id,
    object_id: version.objectId,
    created_at: version.createdAt,
    deleted_at: version.deletedAt,
    digest: version.digest,
    version_index: version.versionIndex,
    is_latest: version.isLatest ? 1 : 0,
    kind: version.kind,
    base_object_class: version.baseObjectClass,
    leaf_object_class: version.leafObjectClass,
    wb_user_id: version.wbUserId,
    size_bytes: withSize ? version.size : null,
    ...(labels && presentLabels(version, labels)),
  })
  return addMember(members, 'val', val)
}

/** The latest version also has the alias `latest`. */
function presentLabels({ isLatest }: ObjectVersion, { tags, aliases }: VersionLabels): VersionLabels {
  return { tags, aliases: isLatest ? ['latest', ...aliases] : aliases }
}
