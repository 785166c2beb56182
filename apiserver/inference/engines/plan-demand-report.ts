import type { EngineDemand } from '../../../db/demand/engine-demand.ts'

/** What a process has reported of a base model, and what it has had since then. */
export interface ReportedDemand {
  reported: number
  reportedAtMs: number
  /** The most requests at once since then. */
  peak: number
}

// A third of the time for which a report is valid.
const repeatMs = 5_000

/**
 * Adds the newest peaks to what is known, and plans what to report: more requests than reported at once, the others each
 * five seconds. So a short peak is seen, and a report without requests is not needed: the last one expires.
 */
export function planDemandReport(
  known: ReadonlyMap<string, ReportedDemand>,
  peaks: ReadonlyMap<string, number>,
  nowMs: number,
): { known: Map<string, ReportedDemand>; report: EngineDemand[] } {
  const next = new Map<string, ReportedDemand>()
  const report: EngineDemand[] = []
  for (const baseModel of new Set([...known.keys(), ...peaks.keys()])) {
    const earlier = known.get(baseModel)
    const peak = Math.max(earlier?.peak ?? 0, peaks.get(baseModel) ?? 0)
    const isDue = !earlier || peak > earlier.reported || nowMs - earlier.reportedAtMs >= repeatMs
    if (!isDue) next.set(baseModel, { ...earlier, peak })
    else if (peak > 0) {
      report.push({ baseModel, requests: peak, isNew: !earlier })
      next.set(baseModel, { reported: peak, reportedAtMs: nowMs, peak: 0 })
    }
  }
  return { known: next, report }
}
