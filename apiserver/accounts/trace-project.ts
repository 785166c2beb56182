import { isReservedProject } from '../../crds/names.ts'
import { unprocessable, valueError } from '../../lib/http/http-error.ts'
import { nullable } from '../../lib/http/validation/nullable.ts'
import { projectCalledOff } from '../../db/accounts/limits.ts'
import { namePattern, nameSchema } from './names.ts'

export const traceProjectDescription =
  'The project that records chats as calls. `off` records none; `project:off` is the project with that name.'

/** Which project of the entity records chats, or `off`. */
export const traceProjectSchema = nullable({
  ...nameSchema,
  pattern: `^${projectCalledOff}$|${namePattern}`,
  description: traceProjectDescription,
})

/** @throws {HttpError} 422 for a name that no project can have */
export function checkTraceProject(name: string | null | undefined): void {
  if (name && isReservedProject(name)) {
    throw unprocessable(valueError(['body', 'trace_project'], `"${name}" is reserved: choose another project`))
  }
}
