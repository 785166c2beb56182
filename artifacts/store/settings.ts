import { Type } from 'typebox'
import { createArtifactStore } from './create-store.ts'
import type { ArtifactStore } from './store.ts'

/** The variables of the artifact store, for the schemas of processes that use it. */
export const artifactSettings = {
  // An absolute folder or s3://BUCKET[/PREFIX].
  TRAINYARD_ARTIFACTS: Type.String({ minLength: 1 }),
  // For an S3 server other than Amazon's.
  TRAINYARD_S3_ENDPOINT: Type.Optional(Type.String({ pattern: '^https?://' })),
  TRAINYARD_S3_REGION: Type.Optional(Type.String({ minLength: 1 })),
}

interface ArtifactConfig {
  TRAINYARD_ARTIFACTS: string
  TRAINYARD_S3_ENDPOINT?: string
  TRAINYARD_S3_REGION?: string
}

/** The store of a process's configuration. @throws {ConfigError} */
export function openArtifactStore(config: ArtifactConfig): Promise<ArtifactStore> {
  const { TRAINYARD_ARTIFACTS, TRAINYARD_S3_ENDPOINT, TRAINYARD_S3_REGION } = config
  return createArtifactStore(TRAINYARD_ARTIFACTS, { endpoint: TRAINYARD_S3_ENDPOINT, region: TRAINYARD_S3_REGION })
}
