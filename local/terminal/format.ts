/** `7 s`, `2 min 05 s`. */
export function formatDuration(ms: number): string {
  const seconds = Math.round(ms / 1000)
  if (seconds < 60) return `${seconds} s`
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`
}

/** `[#####-----]  52 %`, for a fraction from 0 to 1. */
export function formatBar(fraction: number, width = 24): string {
  const share = Math.min(1, Math.max(0, fraction))
  const filled = Math.round(share * width)
  return `[${'#'.repeat(filled)}${'-'.repeat(width - filled)}] ${String(Math.floor(share * 100)).padStart(3)} %`
}

/** Truncates a line to a terminal's width, and marks the cut. */
export function fitLine(line: string, columns: number): string {
  return line.length <= columns ? line : `${line.slice(0, Math.max(0, columns - 1))}…`
}
