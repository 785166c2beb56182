import { aliasPattern, isAlias, maxAliasLength } from '../../../crds/names.ts'
import { withInvalidation } from '../../../db/changes.ts'
import { nameStep } from '../../../db/checkpoints/add.ts'
import { deleteAlias, setAlias } from '../../../db/models/aliases.ts'
import type { Pool } from '../../../db/pool.ts'
import { HttpError, notFound } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'

/** The aliases of a version without `latest`, which names the newest one by itself. */
export interface VersionAliases {
  /** The numbers of aliases `stepN`. */
  steps: number[]
  /** The others. */
  aliases: string[]
}

// Far more than jobs make. Later steps must fit into a Postgres integer.
const maxNamedStep = 99_999_999
const maxAliases = 100
const stepPattern = /^step(0|[1-9]\d*)$/

/** Sorts the aliases that a client gives to a version. @throws {HttpError} 422 */
export function readAliases(given: readonly string[]): VersionAliases {
  if (given.length > maxAliases) throw invalidAlias(`A version has at most ${maxAliases} aliases`)
  const others = [...new Set(given)].filter((alias) => alias !== 'latest')
  const steps = others.map(readStep).filter((step) => step !== undefined)
  const aliases = others.filter((alias) => readStep(alias) === undefined)
  if (steps.some((step) => step > maxNamedStep))
    throw invalidAlias(`The highest alias of a step is step${maxNamedStep}`)
  const wrong = aliases.find((alias) => !isAlias(alias))
  if (wrong === undefined) return { steps, aliases }
  const rule = `An alias of a model's version matches ${aliasPattern}, has at most ${maxAliasLength} characters, and is not vN`
  throw invalidAlias(`${JSON.stringify(wrong.slice(0, 100))} cannot be an alias. ${rule}`)
}

/**
 * Adds aliases to a version and takes others away. Chats use them after the answer.
 *
 * @throws {HttpError} 422 for its own step and `latest`, which it cannot lose; 404 if it was just deleted
 */
export async function changeAliases(
  pool: Pool,
  { modelId, step }: { modelId: string; step: number },
  { added, removed }: { added: readonly string[]; removed: readonly string[] },
): Promise<void> {
  const [given, taken] = [readAliases(added), readAliases(removed)]
  if (taken.steps.includes(step) || removed.includes('latest'))
    throw invalidAlias('A version keeps the alias of its own step, and the newest version is latest')
  await withInvalidation(pool, async (connection) => {
    for (const alias of [...taken.aliases, ...taken.steps.map((each) => `step${each}`)])
      await deleteAlias(connection, modelId, alias, step)
    for (const alias of given.aliases)
      if (!(await setAlias(connection, modelId, alias, step))) throw notFound('Checkpoint')
    for (const named of given.steps) await nameStep(connection, modelId, named, step)
  })
}

function readStep(alias: string): number | undefined {
  const step = stepPattern.exec(alias)?.[1]
  return step === undefined ? undefined : Number(step)
}

function invalidAlias(reason: string): HttpError {
  return new HttpError(errors.invalid_request, `${reason}.`)
}
