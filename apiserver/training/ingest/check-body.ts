import { JsonReader, type ReadInto } from '../../../lib/json/reader.ts'
import { describeRewards, fillAdvantages, type RewardFigures } from './advantages.ts'
import { bodyLimits } from './body-size.ts'
import { readTrajectoryBody, type BodyContent, type BodyReading } from './read-body.ts'
import type { BodyKind, BodyMembers } from './shapes.ts'

// One statement of this many rows has about 500 kB.
const rowsPerBatch = 1_000

/** A valid body without its trajectories, so that it is small. */
export interface CheckedBody<Kind extends BodyKind = BodyKind> extends Omit<BodyContent<Kind>, 'rows'> {
  trajectories: number
  rewards: RewardFigures
  /** The index rows of its trajectories as JSON arrays, ready for the database. */
  rowBatches: string[]
}

/** Reads and checks a body; see `readTrajectoryBody`. */
export function checkBody<Kind extends BodyKind>(
  readInto: ReadInto,
  reading: BodyReading<Kind>,
  windowBytes?: number,
): CheckedBody<Kind> {
  const { rows, ...content } = readTrajectoryBody(new JsonReader(readInto, bodyLimits, windowBytes), reading)
  const members: BodyMembers[BodyKind] = content.members
  const config = 'experimental_config' in members ? members.experimental_config : undefined
  fillAdvantages(rows, (config?.scale_rewards ?? true) && (config?.normalize_advantages ?? true))
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
