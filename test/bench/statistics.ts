/** Returns the value below which this share of the values is. 0 without values. */
export function percentile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0
}

export function median(values: number[]): number {
  return percentile(values, 0.5)
}

/** Rounds numbers for people. Small numbers keep three digits. */
export function round(value: number): number {
  return Number(value.toPrecision(Math.abs(value) < 100 ? 3 : 4))
}
