import { useMemo } from 'react'
import type { Answer } from '../../data/client.ts'
import type { Turn } from '../../logic/chat.ts'
import { readHistories } from '../../logic/histories.ts'

export type FullTrajectory = Answer<'GET /v1/preview/models/{model_id}/trajectories/{trajectory_id}'>

/** The turns of a trajectory, whatever its client stored. */
export function useTurns(stored: FullTrajectory): Turn[] {
  return useMemo(() => readHistories(stored), [stored])
}
