import type { Pool } from '../pool.ts'

// The clocks of processes differ by less than a window's length.
const sameWindowMs = 1_000

/** Returns points to the window that they were taken from, unless that window is over. */
export async function returnPoints(
  pool: Pool,
  { key, points, expiresAtMs }: { key: string; points: number; expiresAtMs: number },
): Promise<void> {
  await pool.query(
    `UPDATE auth.request_counts SET points = greatest(0, points - $2) WHERE key = $1 AND abs(expire - $3) < $4`,
    [key, points, Math.round(expiresAtMs), sameWindowMs],
  )
}
