import { notFound, unprocessable, type ValidationIssue } from '../../../lib/http/http-error.ts'
import { isAlias } from '../../../crds/names.ts'
import type { StepReference } from '../../../db/checkpoints/checkpoints.ts'
import { maxStep, maxSteps } from './schema.ts'

/** Reads a path's `{step}`: a number, `latest`, or an alias. @throws {HttpError} 404 for any other text */
export function readStepReference(text: string): StepReference {
  if (text === 'latest') return 'latest'
  if (/^\d{1,10}$/.test(text) && Number(text) <= maxStep) return { step: Number(text) }
  if (isAlias(text)) return { alias: text }
  throw notFound('Checkpoint')
}

/**
 * Reads the steps of a DELETE from its body, its query, or both; each once. In the query they are separated by commas,
 * repeated, or repeated with brackets, as clients write arrays.
 *
 * @throws {HttpError} 422 if there are none, too many, or some that are not numbers
 */
export function readSteps(body: number[] | undefined, query: NodeJS.Dict<string | string[]>): number[] {
  const texts = [query['steps'], query['steps[]']]
    .flat()
    .filter((text) => text !== undefined)
    .flatMap((text) => (text === '' ? [] : text.split(',')))
  const isGiven = query['steps'] !== undefined || query['steps[]'] !== undefined
  if (body === undefined && !isGiven) {
    throw unprocessable({ loc: ['body', 'steps'], msg: 'Field required', type: 'missing' })
  }
  const issues = texts.length > maxSteps ? [tooMany(texts.length)] : texts.flatMap(findIssue)
  if (issues.length > 0) throw unprocessable(...issues)
  return [...new Set([...(body ?? []), ...texts.map(Number)])]
}

function findIssue(text: string, index: number): ValidationIssue[] {
  const loc = ['query', 'steps', String(index)]
  if (!/^ *-?\d+ *$/.test(text)) {
    const msg = 'Input should be a valid integer, unable to parse string as an integer'
    return [{ loc, msg, type: 'int_parsing' }]
  }
  if (Math.abs(Number(text)) <= maxStep) return []
  return [{ loc, msg: `Input should be less than or equal to ${maxStep}`, type: 'less_than_equal' }]
}

function tooMany(count: number): ValidationIssue {
  const msg = `List should have at most ${maxSteps} items after validation, not ${count}`
  return { loc: ['query', 'steps'], msg, type: 'too_long' }
}
