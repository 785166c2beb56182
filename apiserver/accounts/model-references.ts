import { errors } from '../errors/table.ts'
import { HttpError, notFound } from '../../lib/http/http-error.ts'
import { isUuid } from '../../lib/http/validation/compile.ts'
import { listModelsNamed } from '../../db/models/by-name.ts'
import type { Pool } from '../../db/pool.ts'
import { isName } from './names.ts'

// A sentence with more names helps nobody.
const maxNames = 5

interface WantedModel {
  project: string | undefined
  name: string
}

/**
 * Finds the id of the model that a request refers to: by its id, or by its name as `ENTITY/PROJECT/NAME`, `PROJECT/NAME`
 * or `NAME`. Undefined if the entity has no model of this name. Whether there is a model with an id is left to the
 * caller.
 *
 * @throws {HttpError} 409 for a `NAME` that several projects have
 */
export async function findModelId(pool: Pool, entity: string, reference: string): Promise<string | undefined> {
  if (isUuid(reference)) return reference.toLowerCase()
  const wanted = parseModelName(entity, reference)
  if (!wanted) return undefined
  const [found, ...others] = await listModelsNamed(pool, { entity, ...wanted }, maxNames)
  if (!found || others.length === 0) return found?.id
  const names = [found, ...others].map(({ project }) => `${project}/${wanted.name}`)
  throw new HttpError(
    errors.conflict,
    `Several projects have a model ${wanted.name}. Name its project too: ${names.join(', ')}.`,
  )
}

/** The same. @throws {HttpError} 404 if the entity has no model of this name */
export async function requireModelId(pool: Pool, entity: string, reference: string): Promise<string> {
  const id = await findModelId(pool, entity, reference)
  if (id === undefined) throw notFound('Model', reference)
  return id
}

/** Reads the name of a model of this entity. Undefined for any other text. */
export function parseModelName(entity: string, text: string): WantedModel | undefined {
  const parts = text.replace(/^wandb-artifact:\/\/\//, '').split('/')
  const [name = '', project, named = entity] = parts.toReversed()
  if (parts.length > 3 || named !== entity || !parts.every(isName)) return undefined
  return { project, name }
}
