import { JsonReader, type ReadInto } from '../../../lib/json/reader.ts'
import { describeRewards, fillAdvantages, type RewardFigures } from './advantages.ts'
import { bodyLimits } from './body-size.ts'
import { readTrajectoryBody, type BodyContent } from './read-body.ts'
import type { BodyKind } from './shapes.ts'

// One statement of this many rows is some 500 kB.
const rowsPerBatch = 1_000

/** A body that is in shape; without its trajectories, so that it is small. */
export interface CheckedBody extends Omit<BodyContent, 'rows'> {
  trajectories: number
  rewards: RewardFigures
  /** The index rows of its trajectories as JSON arrays, ready for the database. */
  rowBatches: string[]
}

/** Reads and checks a body; see `readTrajectoryBody`. */
export function checkBody(readInto: ReadInto, kind: BodyKind, windowBytes?: number): CheckedBody {
  const { rows, ...content } = readTrajectoryBody(new JsonReader(readInto, bodyLimits, windowBytes), kind)
  const config = content.members['experimental_config'] as { scale_rewards?: boolean | null } | null | undefined
  fillAdvantages(rows, config?.scale_rewards ?? true)
  const starts = Array.from({ length: Math.ceil(rows.length / rowsPerBatch) }, (_, index) => index * rowsPerBatch)
  return {
    ...content,
    trajectories: rows.length,
    rewards: describeRewards(rows.map((row) => row.reward)),
    rowBatches: starts.map((start) => JSON.stringify(rows.slice(start, start + rowsPerBatch))),
  }
}

/** Reads from bytes in memory. */
export function readBytes(bytes: Uint8Array): ReadInto {
  let at = 0
  return (into) => {
    const part = bytes.subarray(at, at + into.length)
    into.set(part)
    at += part.length
    return part.length
  }
}
