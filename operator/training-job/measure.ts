import { keyOf } from '../../artifacts/layout.ts'
import { recordCheckpointBytes } from '../../db/checkpoints/checkpoints.ts'
import type { Context } from '../context.ts'

/** Notes how large a checkpoint is, for its entity's limit. Without the store the size stays unknown, and counts as none. */
export async function measureCheckpoint(
  { artifacts, pool, log }: Pick<Context, 'artifacts' | 'pool' | 'log'>,
  checkpointId: string,
): Promise<void> {
  try {
    let bytes = 0
    for await (const { size } of artifacts.list(keyOf('checkpoint', { checkpoint: checkpointId }))) bytes += size
    await recordCheckpointBytes(pool, checkpointId, bytes)
  } catch (error) {
    log.warn({ error, checkpoint: checkpointId }, 'checkpoint not measured')
  }
}
