import { queryOptions } from '@tanstack/react-query'
import type { Difference } from '../logic/trajectory-diff.ts'
import { locate, sendTo } from './client.ts'
import type { Trajectory } from './models.ts'
import { runInWorker } from './run-in-worker.ts'

const operation = 'GET /v1/preview/models/{model_id}/trajectories/{trajectory_id}'

/** Two trajectories, and what the conversation of `b` says differently from that of `a`. */
export interface ComparedTrajectories {
  a: Trajectory
  b: Trajectory
  difference: Difference
}

/** Compares two trajectories in a worker: those of agents are many megabytes. */
export function trajectoryDiffQuery(modelId: string, a: string, b: string) {
  return queryOptions({
    queryKey: ['trajectory difference', modelId, a, b],
    // They never change, except for the push that comes late.
    staleTime: 60_000,
    queryFn: async ({ signal }): Promise<ComparedTrajectories> => {
      const read = async (id: string) => {
        const { method, address } = locate(operation, { path: { model_id: modelId, trajectory_id: id } })
        return (await sendTo(method, address, undefined, signal)).arrayBuffer()
      }
      const answers = await Promise.all([read(a), read(b)])
      return (await runInWorker('difference', answers, signal)) as ComparedTrajectories
    },
  })
}
