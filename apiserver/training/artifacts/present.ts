import type { ArtifactVersion } from '../../../db/artifacts/versions.ts'

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
