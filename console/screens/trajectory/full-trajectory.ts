import { useMemo } from 'react'
import type { Answer } from '../../data/client.ts'
import { readTurns, type Turn } from '../../logic/chat.ts'

export type FullTrajectory = Answer<'GET /v1/preview/models/{model_id}/trajectories/{trajectory_id}'>

/** The turns of a trajectory, whatever its client stored. */
export function useTurns({ trajectory }: FullTrajectory): Turn[] {
  return useMemo(() => readTurns(trajectory['messages_and_choices']), [trajectory])
}
