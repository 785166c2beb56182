import { HttpError } from '../../../../lib/http/http-error.ts'
import { errors } from '../../../errors/table.ts'

/** The error for files that are no adapter of the base model. */
export function invalidAdapter(reason: string): HttpError {
  return new HttpError(errors.invalid_request, `The files are no adapter of this model. ${reason}.`)
}
