import { readTurns, type Turn } from './chat.ts'

/** What the API answers about a trajectory. A trajectory with captured exchanges has its histories beside it. */
export interface StoredTrajectory {
  trajectory: object
  histories?: readonly object[]
  flags?: readonly string[]
}

/** The messages and choices of each conversation of a trajectory, whether its client wrote or captured them. */
export function listHistories({ trajectory, histories }: StoredTrajectory): unknown[][] {
  const others = (trajectory as { additional_histories?: unknown }).additional_histories
  const all: unknown[] = [...(histories ?? [trajectory, ...(Array.isArray(others) ? (others as unknown[]) : [])])]
  return all.map((history) => {
    const items = (history as { messages_and_choices?: unknown } | null)?.messages_and_choices
    return Array.isArray(items) ? (items as unknown[]) : []
  })
}

/** The turns of all conversations of a trajectory, one after the other. */
export function readHistories(stored: StoredTrajectory): Turn[] {
  return listHistories(stored).flatMap((items, history) =>
    readTurns(items).map((turn) => (history === 0 ? turn : { ...turn, history })),
  )
}

/** Why a captured trajectory has no conversation. */
export function explainNoHistory({ histories, flags = [] }: StoredTrajectory): string | undefined {
  if (!flags.includes('captured')) return undefined
  return histories
    ? 'None of its exchanges is with this model, so there is no conversation.'
    : 'Its exchanges are too large to be shown here. The download has them.'
}

/** Whether token statistics of the first history have a turn. Captured exchanges are all trained as one history. */
export function isOfFirstHistory({ histories }: StoredTrajectory, { history }: Turn): boolean {
  return histories !== undefined || history === undefined
}
