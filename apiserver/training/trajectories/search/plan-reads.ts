import type { TrajectoryRow } from '../../../../db/trajectories/trajectories.ts'

export const maxTrajectoryBytes = 4 * 1024 * 1024

/** Trajectories that one read of the store has. */
export interface PlannedRead {
  uri: string
  start: number
  /** The byte after the last. */
  end: number
  rows: TrajectoryRow[]
}

/**
 * Joins trajectories that follow each other in a payload into reads of at most 4 MiB. Larger ones are in none. The reads
 * end before they have more than `budget` bytes, but there is at least one. `planned` is how many rows were looked at.
 */
export function planReads(rows: readonly TrajectoryRow[], budget: number): { reads: PlannedRead[]; planned: number } {
  const reads: PlannedRead[] = []
  let bytes = 0
  for (const [index, row] of rows.entries()) {
    const { payloadUri: uri, payloadOffset: start, payloadLength } = row
    if (payloadLength > maxTrajectoryBytes) continue
    const last = reads.at(-1)
    const end = start + payloadLength
    const isNext = last?.uri === uri && start >= last.end && end - last.start <= maxTrajectoryBytes
    const added = isNext ? end - last.end : payloadLength
    if (reads.length > 0 && bytes + added > budget) return { reads, planned: index }
    bytes += added
    if (isNext) Object.assign(last, { end, rows: [...last.rows, row] })
    else reads.push({ uri, start, end, rows: [row] })
  }
  return { reads, planned: rows.length }
}
