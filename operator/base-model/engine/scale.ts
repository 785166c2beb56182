/** When so many replicas were last needed. */
interface ScaleSample {
  atMs: number
  replicas: number
}

/** What was needed in the time of the delay: ever fewer replicas, ever later. */
export type ScaleHistory = readonly ScaleSample[]

export interface ScaleBounds {
  min: number
  max: number
  /** How long fewer replicas must be enough until there are fewer. */
  delayMs: number
}

/** What is needed now, and what there is. */
export interface ScaleObservation {
  nowMs: number
  /** How many replicas are there, or are being made. */
  current: number
  /** How many would be enough. */
  needed: number
}

// Without observations for so long, nobody knows what was needed meanwhile.
const maxGapMs = 30_000

/**
 * Plans the number of replicas: the most that was needed in the time of the delay, within the bounds. More are there at
 * once, and fewer after the delay. Without a history, all that are there were needed until now.
 */
export function planScale(
  history: ScaleHistory,
  { min, max, delayMs }: ScaleBounds,
  { nowMs, current, needed }: ScaleObservation,
): { replicas: number; history: ScaleHistory } {
  const bound = (replicas: number) => Math.max(min, Math.min(max, replicas))
  const isUnknown = nowMs - (history.at(-1)?.atMs ?? -Infinity) > maxGapMs
  const earlier = isUnknown ? [{ atMs: nowMs, replicas: bound(current) }] : history
  const now = { atMs: nowMs, replicas: bound(needed) }
  // Of samples that need no more than the newest, none can ever decide again.
  const kept = earlier.filter(({ atMs, replicas }) => replicas > now.replicas && nowMs - atMs < delayMs)
  const samples = [...kept, now]
  return { replicas: bound(samples[0]?.replicas ?? min), history: samples }
}
