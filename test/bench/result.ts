/** The results of a benchmark. */
export interface BenchResult {
  /** The promised comparisons. */
  ratios: Record<string, number>
  /** Other figures, with the unit in the name. */
  figures: Record<string, number>
}

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

/** Prints the numbers as a table. The last line has them as one JSON object. */
export function printResult(bench: string, { ratios, figures }: BenchResult): void {
  const rows = Object.entries({ ...figures, ...ratios })
  const width = Math.max(...rows.map(([name]) => name.length))
  for (const [name, value] of rows) process.stdout.write(`${name.padEnd(width)}  ${value}\n`)
  process.stdout.write(`${JSON.stringify({ bench, ratios, figures })}\n`)
}
