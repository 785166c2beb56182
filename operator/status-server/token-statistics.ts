import type { ReportedStatistics } from '../../db/jobs/token-statistics.ts'
import { HttpError } from '../../lib/http/http-error.ts'
import { errors } from './errors.ts'

interface StatisticsBody {
  uri: string | null
  digest: string | null
  bytes: number | null
  pushes: Record<string, number>
}

/**
 * Converts a report of token statistics for the database. @throws {HttpError} 422 if the file's fields are incomplete
 */
export function readStatistics({ uri, digest, bytes, pushes }: StatisticsBody): ReportedStatistics {
  if (uri === null && digest === null && bytes === null) return { file: null, pushes }
  if (uri === null || digest === null || bytes === null) {
    throw new HttpError(errors.invalid_request, 'of uri, digest and bytes all are null, or none')
  }
  const checkpointId = uri.slice(uri.lastIndexOf('/') + 1, uri.lastIndexOf('.'))
  return { file: { checkpointId, digest, bytes }, pushes }
}
