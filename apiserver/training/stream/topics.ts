import { requireModelId } from '../../accounts/model-references.ts'
import { isModelReference, isName } from '../../accounts/names.ts'
import { unprocessable, valueError } from '../../../lib/http/http-error.ts'
import { isUuid } from '../../../lib/http/validation/compile.ts'
import type { Pool } from '../../../db/pool.ts'
import type { ChangeRow } from '../../../db/webhooks/read-outbox.ts'

/** What a client follows of its entity. */
export interface Topics {
  /** All of it. */
  entity: boolean
  projects: ReadonlySet<string>
  models: ReadonlySet<string>
  jobs: ReadonlySet<string>
}

const maxTopics = 50

/**
 * Reads topics such as `entity`, `project:NAME`, `model:ID` and `job:ID`. A model may be named.
 *
 * @throws {HttpError} 422, and as `requireModelId` does
 */
export async function readTopics(pool: Pool, entity: string, text: string): Promise<Topics> {
  const names = text.split(',')
  if (names.length > maxTopics) throw invalid(`must be at most ${maxTopics} topics`)
  const of = (kind: string) => names.filter((name) => name.startsWith(kind)).map((name) => name.slice(kind.length))
  const [projects, models, jobs] = [of('project:'), of('model:'), of('job:')]
  const isKnown = names.every((name) => /^(entity$|project:|model:|job:)/.test(name))
  if (!isKnown || !projects.every(isName) || !models.every(isModelReference) || !jobs.every(isUuid))
    throw invalid('must be entity, project:NAME, model:ID or job:ID, separated by commas')
  return {
    entity: names.includes('entity'),
    projects: new Set(projects),
    models: new Set(await Promise.all(models.map((model) => requireModelId(pool, entity, model)))),
    jobs: new Set(jobs.map((id) => id.toLowerCase())),
  }
}

/** Whether somebody who follows these topics gets a change of the entity. */
export function follows({ entity, projects, models, jobs }: Topics, change: ChangeRow): boolean {
  return entity || projects.has(change.project) || followsClosely({ models, jobs }, change)
}

/** Whether they also get the events of the job. */
export function followsClosely({ models, jobs }: Pick<Topics, 'models' | 'jobs'>, change: ChangeRow): boolean {
  return jobs.has(change.subjectId) || models.has(modelOf(change))
}

/** The model of a change. */
export function modelOf({ kind, subjectId, data }: ChangeRow): string {
  return kind.startsWith('model.') ? subjectId : String(data['model_id'])
}

function invalid(reason: string) {
  return unprocessable(valueError(['query', 'topics'], reason))
}
