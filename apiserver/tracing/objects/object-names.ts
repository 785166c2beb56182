import { badRequest, invalidField } from '../errors.ts'
import type { VersionSelector } from '../../../db/tracing/objects.ts'

// Python's word characters, dots and dashes.
const namePattern = /^[\p{L}\p{N}_.-]+$/u
const tooLong = /^.{129}/su
const maxLabelLength = 128
const maxLabels = 100
const maxIndex = 2 ** 31 - 1

/** @throws {HttpError} 403 for an invalid object name */
export function checkObjectId(objectId: string): void {
  if (objectId === '') throw invalidField('Object name cannot be empty')
  if (tooLong.test(objectId)) throw invalidField('Object names have at most 128 characters')
  if (namePattern.test(objectId)) return
  throw invalidField(`Invalid object name: ${objectId}. It can have letters, digits, underscores, dots and dashes.`)
}

/** Parses how a client names a version: `latest`, `v3`, or else a digest. */
export function readSelector(version: string): VersionSelector {
  if (version === 'latest') return 'latest'
  const index = readIndex(version)
  return index === undefined ? { digest: version } : { index }
}

/** The index in `v3`. Undefined for other texts. */
export function readIndex(version: string): number | undefined {
  if (!/^v\d+$/.test(version)) return undefined
  const index = Number(version.slice(1))
  // No object has this many versions. No version has the index -1.
  return index <= maxIndex ? index : -1
}

/** @throws {HttpError} 400 for invalid tags */
export function checkTags(tags: string[]): void {
  if (tags.length > maxLabels) throw badRequest(`One request adds or removes at most ${maxLabels} tags`)
  const bad = tags.find((tag) => tag.trim() === '' || tag.length > maxLabelLength)
  if (bad !== undefined) throw badRequest(`Invalid tag: it must have 1 to ${maxLabelLength} characters`)
}

/** An alias must not look like another name of a version. @throws {HttpError} 400 */
export function checkAliases(aliases: string[]): void {
  if (aliases.length > maxLabels) throw badRequest(`One request sets or removes at most ${maxLabels} aliases`)
  const bad = aliases.find((alias) => !/^[^\s:/]+$/.test(alias) || alias.length > maxLabelLength)
  if (bad !== undefined)
    throw badRequest(`Invalid alias: it must have 1 to ${maxLabelLength} characters, and no space, colon or slash`)
  const taken = aliases.find((alias) => alias === 'latest' || readIndex(alias) !== undefined)
  if (taken !== undefined) throw badRequest(`Invalid alias: ${taken} is reserved for versions`)
}
