import { HttpError } from '../../../lib/http/http-error.ts'
import { storedRunStates, type StoredRunState } from '../../../db/runs/table.ts'
import type { RunChange } from '../../../db/runs/upsert.ts'
import { errors } from '../../errors/table.ts'
import { cleanJsonText, isDocument, maxDocumentValues } from '../json-text.ts'
import { findText, invalidArgument, readTexts } from '../graphql/arguments.ts'
import type { Arguments } from '../graphql/values.ts'
import { maskKeys } from '../../accounts/keys/mask-keys.ts'

const maxTextLength = 64 * 1024
const maxTags = 100
const maxTagLength = 256

/** Reads what a client sets for a run. What is null stays as it is. @throws {HttpError} 400 */
export function readRunChange(input: Arguments): RunChange {
  if (findText(input, 'sweep')) throw unsupported('Sweeps')
  return {
    displayName: readSetting(input, 'displayName'),
    description: readSetting(input, 'description'),
    notes: readSetting(input, 'notes'),
    groupName: readSetting(input, 'groupName'),
    jobType: readSetting(input, 'jobType'),
    program: readSetting(input, 'jobProgram'),
    repository: readSetting(input, 'jobRepo'),
    commitHash: readSetting(input, 'commit'),
    host: readSetting(input, 'host'),
    tags: Array.isArray(input['tags']) ? readTags(input) : undefined,
    config: readJsonText(input, 'config'),
    summary: readJsonText(input, 'summaryMetrics'),
    state: readState(input),
  }
}

function readTags(input: Arguments): string[] {
  const tags = readTexts(input, 'tags', maxTags)
  if (tags.some(({ length }) => length > maxTagLength))
    throw invalidArgument('tags', `has a tag of more than ${maxTagLength} characters`)
  return tags
}

function readSetting(input: Arguments, name: string): string | undefined {
  const text = findText(input, name)
  if (text !== undefined && text.length > maxTextLength)
    throw invalidArgument(name, `is longer than ${maxTextLength} characters`)
  return text?.toWellFormed()
}

function readJsonText(input: Arguments, name: string): string | undefined {
  const text = findText(input, name)
  if (text === undefined) return undefined
  const clean = cleanJsonText(maskKeys(text))
  if (isDocument(clean)) return clean
  throw invalidArgument(name, `must be the text of a JSON object of at most ${maxDocumentValues} values`)
}

/** Reads a state. `preempting` and `crashed` follow from what clients send. @throws {HttpError} 400 */
export function readState(input: Arguments): StoredRunState | undefined {
  const state = findText(input, 'state')
  if (state === undefined) return undefined
  const known = storedRunStates.find((each) => each === state)
  if (known) return known
  throw invalidArgument('state', `must be one of ${storedRunStates.join(', ')}`)
}

/** The error for a part of W&B that this server does not have. */
export function unsupported(what: string): HttpError {
  return new HttpError(errors.bad_request, `${what} are not supported by this server.`)
}
