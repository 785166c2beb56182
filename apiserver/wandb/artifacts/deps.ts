import type { VersionContent } from '../../../db/wandb/changes.ts'
import type { PendingArtifact } from '../../../db/wandb/pending-artifacts.ts'
import type { Version } from '../../../db/wandb/versions.ts'
import type { Admission } from '../../accounts/limits/admission.ts'
import type { RequestMemory } from '../../accounts/limits/request-memory.ts'
import type { BlobUploadDeps } from '../../training/artifacts/store-files.ts'
import type { GraphqlContext } from '../graphql/resource.ts'

/** A model's name names its checkpoints. They have no rows of versions, but change where models are. */
export interface CheckpointHooks {
  /** Makes a checkpoint of a version whose files are all in the store. Returns false if the version does not belong to a model. */
  commit: (pending: PendingArtifact, content: VersionContent) => Promise<boolean>
  changeAliases: (version: Version, change: { added: string[]; removed: string[] }) => Promise<void>
  remove: (version: Version, context: GraphqlContext) => Promise<void>
}

export interface WandbArtifactDeps extends BlobUploadDeps {
  admission: Admission
  memory: RequestMemory
  checkpoints: CheckpointHooks
}

/** What presenting needs: the parts of the server, and the request. */
export interface Presenter {
  deps: WandbArtifactDeps
  context: GraphqlContext
}
