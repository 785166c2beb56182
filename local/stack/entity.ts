import { isName, isReservedEntity } from '../../apiserver/training/names.ts'
import { Problem } from '../problem.ts'

/** @throws {Problem} when an entity cannot have this name */
export function requireEntity(name: string): void {
  if (!isName(name)) {
    throw new Problem(
      `"${name}" cannot be the name of an entity: letters, digits, dots, dashes and underscores only, at most 128, ` +
        'a letter or digit first.',
    )
  }
  if (isReservedEntity(name)) throw new Problem(`"${name}" is reserved; give the entity another name.`)
}
