import type { HttpError } from '../../lib/http/http-error.ts'
import type { PresentError } from '../errors/present.ts'

/** Writes an error as the wandb SDKs show it. */
export const presentErrors: PresentError = (error) => ({ errors: [describeForGraphql(error)] })

/** An error of a GraphQL answer. The code makes weave report missing access. */
export function describeForGraphql({ status, message }: HttpError) {
  return status === 403 ? { message, extensions: { code: 'PERMISSION_ERROR' } } : { message }
}
