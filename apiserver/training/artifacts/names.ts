import { isReservedProject } from '../../../crds/names.ts'
import type { ArtifactName } from '../../../db/artifacts/versions.ts'
import type { Caller } from '../../middleware/context.ts'
import { notFound, Refusal, unprocessable, type Fault } from '../../refusal.ts'
import { isName } from '../../accounts/names.ts'
import { readVersion } from '../../../artifacts/inputs/address.ts'

/** What GET paths name: a data set, and which version of it. */
export interface VersionName extends ArtifactName {
  version: number | 'latest'
}

/**
 * The data set that an upload names.
 *
 * @throws {Refusal} 422 for what cannot be a name, 403 for another entity's
 */
export function nameUpload(caller: Caller, params: Record<string, string>): ArtifactName {
  const { entity, project, name } = readParams(params)
  const faults = [...checkName('project', project), ...checkName('name', name)]
  if (isReservedProject(project)) faults.push(fault('project', 'this name is reserved'))
  if (faults.length > 0) throw unprocessable(...faults)
  if (entity !== caller.entity) {
    throw new Refusal(403, `This key belongs to the entity ${caller.entity}, and cannot upload to another.`)
  }
  return { entity, project, name }
}

/** The data set that a GET names, without a version. @throws {Refusal} 404 for another entity's too */
export function nameArtifact(caller: Caller, params: Record<string, string>): ArtifactName {
  const found = readParams(params)
  if (found.entity !== caller.entity || !isName(found.project) || !isName(found.name)) throw notFound('Artifact')
  return found
}

/** The version that a GET names: NAME is the newest, NAME:latest too, NAME:v3 the third after the first. */
export function nameVersion(caller: Caller, params: Record<string, string>): VersionName {
  const [name = '', ...versions] = (params['name'] ?? '').split(':')
  const version = versions.length > 1 ? undefined : readVersion(versions[0])
  if (version === undefined) throw notFound('Artifact')
  return { ...nameArtifact(caller, { ...params, name }), version }
}

function readParams({ entity = '', project = '', name = '' }: Record<string, string>): ArtifactName {
  return { entity, project, name }
}

function checkName(part: 'project' | 'name', text: string): Fault[] {
  if (isName(text)) return []
  return [
    fault(part, 'a name has letters, digits, dots, underscores and dashes, at most 128, the first no dot or dash'),
  ]
}

function fault(part: string, reason: string): Fault {
  return { loc: ['path', part], msg: `Value error, ${reason}`, type: 'value_error' }
}
