import { moveAliases } from '../../../db/wandb/changes.ts'
import type { Version } from '../../../db/wandb/versions.ts'
import type { WandbArtifactDeps } from './deps.ts'

/** Gives aliases to a version. Versions that have them lose them. */
export async function giveAliases(
  { pool, checkpoints }: Pick<WandbArtifactDeps, 'checkpoints' | 'pool'>,
  version: Version,
  added: string[],
): Promise<void> {
  if (version.isCheckpoint) await checkpoints.changeAliases(version, { added, removed: [] })
  else await moveAliases(pool, version, added)
}
