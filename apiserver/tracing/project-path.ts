import { notFound } from '../../lib/http/http-error.ts'
import { isTracedName } from '../accounts/names.ts'

/** The name of a project in a path. @throws {HttpError} 404 for what is no name */
export function requireProjectName(project: string): string {
  if (!isTracedName(project) || project.includes('/')) throw notFound('Project')
  return project
}
