import { findCheckpointStep } from '../../../db/checkpoints/checkpoints.ts'
import { findModelByName, type ModelRow } from '../../../db/models/models.ts'
import type { VersionContent } from '../../../db/wandb/changes.ts'
import { deletePending, type PendingArtifact } from '../../../db/wandb/pending-artifacts.ts'
import type { Version } from '../../../db/wandb/versions.ts'
import { notFound } from '../../../lib/http/http-error.ts'
import { invalidAdapter } from '../../training/checkpoints/adapters/invalid.ts'
import { addVersion, type AddVersionDeps, type ClientFile } from '../../training/checkpoints/add-version.ts'
import { deleteModelCheckpoints } from '../../training/checkpoints/service.ts'
import { changeAliases, readAliases } from '../../training/checkpoints/version-aliases.ts'
import type { CheckpointHooks } from '../artifacts/deps.ts'

/** Makes checkpoints of the versions that clients log with a model's name, and changes and deletes checkpoints. */
export function createCheckpointHooks(deps: AddVersionDeps): CheckpointHooks {
  return {
    async commit(pending, content) {
      const model = pending.type === 'lora' ? await findModelByName(deps.pool, pending) : undefined
      if (!model || model.hiddenAt) return false
      await commitCheckpoint(deps, { pending, content, model })
      return true
    },
    changeAliases: async (version, change) => changeAliases(deps.pool, await locate(deps, version), change),
    async remove(version, { caller }) {
      const { modelId, step } = await locate(deps, version)
      // The client has agreed that the aliases go too.
      const removed = version.aliases.filter((alias) => alias !== `step${step}`)
      await changeAliases(deps.pool, { modelId, step }, { added: [], removed })
      await deleteModelCheckpoints(deps.pool, caller.entity, modelId, { steps: [step], repeated: false })
    },
  }
}

async function commitCheckpoint(
  deps: AddVersionDeps,
  { pending, content, model }: { pending: PendingArtifact; content: VersionContent; model: ModelRow },
): Promise<void> {
  const { id, digest, metadata, description, runName, clientId } = pending
  const named = readAliases(pending.aliases)
  const version = {
    id,
    digest,
    metadata,
    description,
    runName,
    clientId,
    ...named,
    files: content.files.map(requireStored),
  }
  await addVersion(deps, model, version)
  await deletePending(deps.pool, id)
}

function requireStored({ path, size, digest, md5 }: VersionContent['files'][number]): ClientFile {
  if (digest !== undefined && md5 !== undefined) return { path, size, digest, md5 }
  throw invalidAdapter(`${JSON.stringify(path.slice(0, 100))} is a reference. Add the file itself`)
}

async function locate({ pool }: AddVersionDeps, { id, collectionId }: Version) {
  const step = await findCheckpointStep(pool, collectionId, id)
  if (step === undefined) throw notFound('Artifact', id)
  return { modelId: collectionId, step }
}
