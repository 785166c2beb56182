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
  // The folder of a mounted Secret with access-key-id and secret-access-key. Unset: credentials as the AWS SDKs find them.
  TRAINYARD_S3_KEY_FOLDER: Type.Optional(Type.String({ pattern: '^/' })),
}

interface ArtifactConfig {
  TRAINYARD_ARTIFACTS: string
  TRAINYARD_S3_ENDPOINT?: string
  TRAINYARD_S3_REGION?: string
  TRAINYARD_S3_KEY_FOLDER?: string
}

/** The store of a process's configuration. @throws {ConfigError} */
export function openArtifactStore(config: ArtifactConfig): Promise<ArtifactStore> {
  const { TRAINYARD_S3_ENDPOINT: endpoint, TRAINYARD_S3_REGION: region, TRAINYARD_S3_KEY_FOLDER: keyFolder } = config
  return createArtifactStore(config.TRAINYARD_ARTIFACTS, { endpoint, region, keyFolder })
}
