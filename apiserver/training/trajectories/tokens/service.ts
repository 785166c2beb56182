import { buffer } from 'node:stream/consumers'
import type { AsyncBuffer } from 'hyparquet'
import { keyOf } from '../../../../artifacts/layout.ts'
import type { ArtifactStore } from '../../../../artifacts/store/store.ts'
import { ArtifactMissing } from '../../../../artifacts/store/missing.ts'
import { findStatisticsFile, type StatisticsFile } from '../../../../db/trajectories/statistics-file.ts'
import type { Caller } from '../../../accounts/context.ts'
import { getTrajectory, type TrajectoryDeps } from '../service.ts'
import { explainMissing } from './explain-missing.ts'
import { noTokens, readTokens } from './read-tokens.ts'
import type { TokensQuery } from './schema.ts'

/** Reads the token statistics of a trajectory. @throws {HttpError} 404 for one that is not the caller's */
export async function getTokens(
  deps: TrajectoryDeps,
  caller: Caller,
  ids: { modelId: string; trajectoryId: string },
  { from, limit }: TokensQuery,
) {
  const { row } = await getTrajectory(deps.pool, caller.entity, ids.modelId, ids.trajectoryId)
  const file = row.jobId === null ? undefined : await findStatisticsFile(deps.pool, row.modelId, row.jobId)
  const trajectory = { group: row.groupIndex, trajectory: row.trajectoryIndex }
  const stored = file && openStatistics(deps.artifacts, file)
  const read = async () => (stored ? readTokens(stored, trajectory, { from, limit }) : noTokens)
  const { total, columns } = await read().catch(ignoreRemoved)
  return {
    trajectory_id: row.id,
    job_id: row.jobId,
    total,
    from,
    has_more: from + limit < total,
    columns,
    missing: total === 0 ? explainMissing(row, file) : null,
  }
}

/** The file may be removed while it is read. */
function ignoreRemoved(error: unknown): typeof noTokens {
  if (error instanceof ArtifactMissing) return noTokens
  throw error
}

function openStatistics(artifacts: ArtifactStore, file: StatisticsFile): AsyncBuffer | undefined {
  const { bytes, checkpointId, isDeleted } = file
  if (bytes === null || checkpointId === null || isDeleted) return undefined
  const key = keyOf('statistics', { checkpoint: checkpointId })
  return {
    byteLength: bytes,
    slice: async (start, end = bytes) => {
      const found = await buffer(await artifacts.open(key, { start, end: end - 1 }))
      return found.buffer.slice(found.byteOffset, found.byteOffset + found.length)
    },
  }
}
