import { isReservedProject } from '../../../crds/names.ts'
import type { ArtifactName } from '../../../db/artifacts/versions.ts'
import { HttpError } from '../../../lib/http/http-error.ts'
import { isName } from '../../accounts/names.ts'
import { errors } from '../../errors/table.ts'
import { requireText } from '../graphql/arguments.ts'
import { readProject } from '../graphql/roots.ts'
import type { GraphqlContext } from '../graphql/resource.ts'
import type { Arguments } from '../graphql/values.ts'

const typePattern = /^[A-Za-z0-9][A-Za-z0-9_. -]{0,127}$/
const aliasPattern = /^[^/:,\s\p{Cc}\p{Cs}][^/:\p{Cc}\p{Cs}]{0,127}$/u
const numberPattern = /^v-?\d+$/

/** The collection that a new version names. @throws {HttpError} 400 for an invalid name, 403 for another entity */
export function readCollectionName(args: Arguments, context: GraphqlContext): ArtifactName {
  const { entity, project } = readProject(args, context, 'projectName')
  const name = requireText(args, 'artifactCollectionName')
  if (!isName(project) || isReservedProject(project)) throw invalidName('project', project)
  if (!isName(name)) throw invalidName('artifact', name)
  return { entity, project, name }
}

/** @throws {HttpError} 400 */
export function readTypeName(args: Arguments): string {
  const type = requireText(args, 'artifactTypeName')
  if (typePattern.test(type)) return type
  throw invalidName('type', type)
}

/** Checks aliases for new versions. `latest` follows the newest version by itself. @throws {HttpError} 400 */
export function checkAliases(aliases: readonly string[]): string[] {
  for (const alias of aliases) {
    if (!aliasPattern.test(alias)) throw invalidName('alias', alias)
    if (numberPattern.test(alias))
      throw new HttpError(errors.bad_request, `The alias ${alias} is a version number. The server assigns these.`)
  }
  return [...new Set(aliases)].filter((alias) => alias !== 'latest')
}

/** Splits `NAME:ALIAS`. Without an alias it is the newest version. */
export function splitName(text: string): { name: string; alias: string } {
  const at = text.lastIndexOf(':')
  if (at === -1) return { name: text, alias: 'latest' }
  return { name: text.slice(0, at), alias: text.slice(at + 1) }
}

function invalidName(what: string, name: string): HttpError {
  const shown = JSON.stringify(name.slice(0, 128))
  return new HttpError(
    errors.bad_request,
    `${shown} cannot be the name of this ${what}: it has characters that are not allowed, or is too long.`,
  )
}
