import { CommandError, requireEntity as requireName } from '../../apiserver/accounts/admin/command.ts'
import { UserError } from '../user-error.ts'

/** @throws {Problem} when the name is not a valid entity name */
export function requireEntity(name: string): void {
  try {
    requireName(name)
  } catch (error) {
    throw error instanceof CommandError ? new UserError(error.message, { cause: error }) : error
  }
}
