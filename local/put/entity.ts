import { CommandError, requireEntity as requireName } from '../../apiserver/accounts/admin/command.ts'
import { Problem } from '../problem.ts'

/** @throws {Problem} when an entity cannot have this name */
export function requireEntity(name: string): void {
  try {
    requireName(name)
  } catch (error) {
    throw error instanceof CommandError ? new Problem(error.message, { cause: error }) : error
  }
}
