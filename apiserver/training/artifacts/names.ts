import { HttpError, notFound, unprocessable, valueError, type ValidationIssue } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'
import { isReservedProject } from '../../../crds/names.ts'
import type { ArtifactName } from '../../../db/artifacts/versions.ts'
import type { Caller } from '../../accounts/context.ts'
import { isName } from '../../accounts/names.ts'
import { readVersion } from '../../../artifacts/inputs/address.ts'

/** A data set and the version that a GET path names. */
export interface VersionName extends ArtifactName {
  version: number | 'latest'
}

/**
 * The data set that an upload names.
 *
 * @throws {HttpError} 422 for an invalid name, 403 for another entity's
 */
export function nameUpload(caller: Caller, params: ArtifactName): ArtifactName {
  const { entity, project, name } = params
  const issues = [...checkName('project', project), ...checkName('name', name)]
  if (isReservedProject(project)) issues.push(issue('project', 'this name is reserved'))
  if (issues.length > 0) throw unprocessable(...issues)
  if (entity !== caller.entity) {
    throw new HttpError(
      errors.foreign_entity,
      `This key belongs to the entity ${caller.entity}. It cannot upload to another entity.`,
    )
  }
  return { entity, project, name }
}

/** The data set that a GET names without a version. @throws {HttpError} 404, also for another entity's */
export function nameArtifact(caller: Caller, params: ArtifactName): ArtifactName {
  const { entity, project, name } = params
  if (entity !== caller.entity || !isName(project) || !isName(name)) throw notFound('Artifact')
  return { entity, project, name }
}

/** The version that a GET names. NAME and NAME:latest are the newest, NAME:v3 is the fourth: versions count from v0. */
export function nameVersion(caller: Caller, params: ArtifactName): VersionName {
  const [name = '', ...versions] = params.name.split(':')
  const version = versions.length > 1 ? undefined : readVersion(versions[0])
  if (version === undefined) throw notFound('Artifact')
  return { ...nameArtifact(caller, { ...params, name }), version }
}

function checkName(part: 'project' | 'name', text: string): ValidationIssue[] {
  if (isName(text)) return []
  return [
    issue(
      part,
      'a name has at most 128 letters, digits, dots, underscores and dashes, and does not begin with a dot or a dash',
    ),
  ]
}

function issue(part: string, reason: string): ValidationIssue {
  return valueError(['path', part], reason)
}
