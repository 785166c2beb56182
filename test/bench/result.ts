/** What a benchmark measured. */
export interface BenchResult {
  /** What is compared, and what was promised about it. */
  ratios: Record<string, number>
  /** All else, with the unit in the name. */
  figures: Record<string, number>
}

/** The value below which a share of the values lie; 0 of none. */
export function percentile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0
}

export function median(values: number[]): number {
  return percentile(values, 0.5)
}

/** Rounds for people; small numbers keep three digits. */
export function round(value: number): number {
  return Number(value.toPrecision(Math.abs(value) < 100 ? 3 : 4))
}

/** Prints the numbers as a table, and as one JSON object in the last line. */
export function printResult(bench: string, { ratios, figures }: BenchResult): void {
  const rows = Object.entries({ ...figures, ...ratios })
  const width = Math.max(...rows.map(([name]) => name.length))
  for (const [name, value] of rows) process.stdout.write(`${name.padEnd(width)}  ${value}\n`)
  process.stdout.write(`${JSON.stringify({ bench, ratios, figures })}\n`)
}
