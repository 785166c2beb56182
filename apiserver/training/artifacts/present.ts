import type { DataSetRow } from '../../../db/artifacts/data-sets.ts'
import type { ArtifactVersion } from '../../../db/artifacts/versions.ts'

/** A data set in a list, with its newest versions. */
export function presentDataSet({ id, entity, project, name, type, createdAt, versionCount, versions }: DataSetRow) {
  return {
    id,
    entity,
    project,
    name,
    type,
    created_at: createdAt.toISOString(),
    version_count: versionCount,
    versions: versions.map((each) => ({
      id: each.id,
      version: `v${each.version}`,
      address: `wandb-artifact:///${entity}/${project}/${name}:v${each.version}`,
      size: each.size,
      files: each.files,
      created_at: new Date(each.createdAt).toISOString(),
    })),
  }
}

/** A version of a data set as clients see it. training_data_url accepts `address`. */
export function presentArtifact(artifact: ArtifactVersion) {
  const { id, entity, project, name, digest, size, files, metadata, createdAt } = artifact
  const version = `v${artifact.version}`
  return {
    id,
    entity,
    project,
    name,
    version,
    address: `wandb-artifact:///${entity}/${project}/${name}:${version}`,
    digest,
    size,
    files: files.map((file) => ({ path: file.path, digest: file.digest, size: file.size })),
    metadata,
    created_at: createdAt.toISOString(),
  }
}
