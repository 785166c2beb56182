import { randomInt } from 'node:crypto'
import { HttpError } from '../../lib/http/http-error.ts'
import type { Caller } from '../accounts/context.ts'
import { errors } from '../errors/table.ts'

const maxNameLength = 128
const letters = 'abcdefghijklmnopqrstuvwxyz0123456789'
/** The project of clients that name none. */
export const defaultRunProject = 'uncategorized'

/** Generates the id of a run, as SDKs do. */
export function generateRunName(): string {
  return Array.from({ length: 8 }, () => letters[randomInt(letters.length)]).join('')
}

/** Whether a text can be the id of a run. It is a segment of addresses. */
export function isRunName(text: string): boolean {
  return text !== '' && text.length <= maxNameLength && text.isWellFormed() && !/[/\\#?%:\0]/.test(text)
}

/** The entity of a path, which must be the caller's. @throws {HttpError} 403 for any other one, whether it exists or not */
export function requireOwnEntity(caller: Caller, entity: string): string {
  if (entity === caller.entity) return entity
  throw new HttpError(errors.foreign_entity)
}
