import type { Committed, VersionContent } from '../../../db/wandb/changes.ts'
import type { PendingArtifact } from '../../../db/wandb/pending.ts'
import type { Version } from '../../../db/wandb/versions.ts'
import type { RequestMemory } from '../../accounts/limits/request-memory.ts'
import type { BlobUploadDeps } from '../../training/artifacts/store-files.ts'
import type { GraphqlContext } from '../graphql/resource.ts'

/**
 * What happens to versions of one type, beside their rows. The type `lora` belongs to checkpoints: a committed version
 * becomes one, and deleting it deletes one.
 */
export interface ArtifactTypeHooks {
  /** Commits a version whose files are all in the store: see `commitPending`. */
  commit: (pending: PendingArtifact, content: VersionContent, context: GraphqlContext) => Promise<Committed>
  /** Deletes a version: see `deleteVersion`. */
  remove: (version: Version, context: GraphqlContext) => Promise<void>
}

export interface WandbArtifactDeps extends BlobUploadDeps {
  memory: RequestMemory
  /** By type. Other types have only rows. */
  typeHooks: Readonly<Record<string, ArtifactTypeHooks>>
}

/** What presenting needs: the parts of the server, and the request. */
export interface Presenter {
  deps: WandbArtifactDeps
  context: GraphqlContext
}
