import type { UsageDimension, UsageRow } from '../../../db/accounts/usage-report.ts'
import { isUuid } from '../../../lib/http/validation/compile.ts'
import { encodeGroup } from './group-cursor.ts'

/** One group's usage. Its `id` is also the cursor of the next page. */
export function presentUsage(row: UsageRow, groupBy: UsageDimension[]) {
  const members = groupBy.map((dimension, index) => presentDimension(dimension, row.group[index] ?? '', row.model))
  return {
    id: encodeGroup(row.group),
    ...(Object.assign({}, ...members) as object),
    requests: row.requests,
    prompt_tokens: row.promptTokens,
    completion_tokens: row.completionTokens,
    trained_tokens: row.trainedTokens,
    training_seconds: row.trainingSeconds,
    gpu_seconds: row.gpuSeconds,
  }
}

function presentDimension(dimension: UsageDimension, value: string, model: string): object {
  if (dimension === 'project') return { project: value || null }
  if (dimension === 'model') return { model, model_id: isUuid(value) ? value : null }
  if (dimension === 'key') return { key_id: value || null }
  return { [dimension]: value }
}
