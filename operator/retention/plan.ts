import type { Retention } from '../../db/retention/checkpoints.ts'
import type { RetainedCheckpoint } from '../../db/retention/checkpoints.ts'

/**
 * Returns the steps that no rule keeps: not among the newest, not among the best, and not young enough. The newest step
 * is always kept. A checkpoint without the metric is never among the best. Of equal ones, the newer is better.
 */
export function planRetention(retention: Retention, checkpoints: RetainedCheckpoint[]): number[] {
  const newestFirst = checkpoints.toSorted((a, b) => b.step - a.step)
  const kept = new Set([
    ...newestFirst.slice(0, Math.max(1, retention.keep_last ?? 0)).map(({ step }) => step),
    ...listBest(newestFirst, retention.keep_best),
    ...newestFirst.filter(({ ageSeconds }) => ageSeconds < (retention.ttl_seconds ?? 0)).map(({ step }) => step),
  ])
  return newestFirst.map(({ step }) => step).filter((step) => !kept.has(step))
}

function listBest(newestFirst: RetainedCheckpoint[], rule: Retention['keep_best']): number[] {
  if (!rule) return []
  const sign = rule.mode === 'max' ? -1 : 1
  const measured = newestFirst.flatMap(({ step, metrics }) => {
    const value = metrics[rule.metric]
    return typeof value === 'number' ? [{ step, value }] : []
  })
  // The sort is stable: of equal ones, the newer comes first.
  const best = measured.toSorted((a, b) => sign * (a.value - b.value))
  return best.slice(0, rule.count).map(({ step }) => step)
}
