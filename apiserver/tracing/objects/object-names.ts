import type { VersionSelector } from '../../../db/tracing/objects.ts'
import { badRequest, invalidField } from '../refusals.ts'

// Word characters as Python has them, dots and dashes.
const namePattern = /^[\p{L}\p{N}_.-]+$/u
const tooLong = /^.{129}/su
const longestLabel = 128
const mostLabels = 100
const largestIndex = 2 ** 31 - 1

/** @throws {TraceRefusal} 403 for what no object can be named */
export function checkObjectId(objectId: string): void {
  if (objectId === '') throw invalidField('Object name cannot be empty')
  if (tooLong.test(objectId)) throw invalidField('Object names have at most 128 characters')
  if (namePattern.test(objectId)) return
  throw invalidField(`Invalid object name: ${objectId}. It can have letters, digits, underscores, dots and dashes.`)
}

/** What a client names a version by: `latest`, `v3`, or else its digest. */
export function readSelector(version: string): VersionSelector {
  if (version === 'latest') return 'latest'
  const index = readIndex(version)
  return index === undefined ? { digest: version } : { index }
}

/** The index in `v3`. */
export function readIndex(version: string): number | undefined {
  if (!/^v\d+$/.test(version)) return undefined
  const index = Number(version.slice(1))
  // No object has that many versions, and none has the one below the first.
  return index <= largestIndex ? index : -1
}

/** @throws {TraceRefusal} 400 for what cannot be tags */
export function checkTags(tags: string[]): void {
  if (tags.length > mostLabels) throw badRequest(`At most ${mostLabels} tags are taken at once`)
  const bad = tags.find((tag) => tag.trim() === '' || tag.length > longestLabel)
  if (bad !== undefined) throw badRequest(`Invalid tag: it must have 1 to ${longestLabel} characters`)
}

/** The same for aliases, which must not be what versions are named by already. */
export function checkAliases(aliases: string[]): void {
  if (aliases.length > mostLabels) throw badRequest(`At most ${mostLabels} aliases are taken at once`)
  const bad = aliases.find((alias) => !/^[^\s:/]+$/.test(alias) || alias.length > longestLabel)
  if (bad !== undefined)
    throw badRequest(`Invalid alias: it must have 1 to ${longestLabel} characters, and no space, colon or slash`)
  const taken = aliases.find((alias) => alias === 'latest' || readIndex(alias) !== undefined)
  if (taken !== undefined) throw badRequest(`Invalid alias: ${taken} names a version already`)
}
