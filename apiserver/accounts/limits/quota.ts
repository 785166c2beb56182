/** The refusal of what an entity has no room for: waiting would not help, and no client repeats it by itself. */
export function quotaExceeded(
  entity: string,
  { stored, limit, bytes }: { stored: number; limit: number; bytes: number },
): HttpError {
  const detail = `${entity} has ${stored} of the ${limit} bytes stored that its limit stored_bytes allows, and this needs `
  const advice = `${bytes} more: delete models, checkpoints or artifacts, or traces, which makes room a week later, or ask for a higher limit.`
  return new HttpError(errors.quota_exceeded, detail + advice)
}
import { HttpError } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'
