import { keyOf } from '../../artifacts/layout.ts'
import { recordCheckpointBytes } from '../../db/checkpoints/checkpoints.ts'
import { sumSizes } from '../../artifacts/store/sum-sizes.ts'
import type { ArtifactStore } from '../../artifacts/store/store.ts'
import type { Pool } from '../../db/pool.ts'
import type { Logger } from '../../lib/log.ts'

/**
 * Records the size of a checkpoint, for its entity's limit. While the store is unavailable, the size stays unknown and
 * counts as 0.
 */
export async function measureCheckpoint(
  { artifacts, pool, log }: { artifacts: ArtifactStore; pool: Pool; log: Logger },
  checkpointId: string,
): Promise<void> {
  try {
    const folder = keyOf('checkpoint', { checkpoint: checkpointId })
    await recordCheckpointBytes(pool, checkpointId, await sumSizes(artifacts, folder))
  } catch (error) {
    log.warn({ error, checkpoint: checkpointId }, 'checkpoint not measured')
  }
}
