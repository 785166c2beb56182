import { LimitError } from './limit-error.ts'

/** The error for data beyond the entity's quota. Waiting would not help, so clients do not retry it by themselves. */
export function quotaExceeded(
  entity: string,
  { stored, limit, bytes }: { stored: number; limit: number; bytes: number },
): LimitError {
  const detail = `${entity} stores ${stored} bytes. Its limit stored_bytes is ${limit}, and this request needs ${bytes} more. `
  const advice =
    'Delete models, checkpoints or artifacts, delete traces (which frees space after a week), or ask for a higher limit.'
  return new LimitError('stored_bytes', detail + advice)
}
