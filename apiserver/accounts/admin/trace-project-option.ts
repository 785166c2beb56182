import { isReservedProject } from '../../../crds/names.ts'
import { projectCalledOff, tracesOff } from '../../../db/accounts/limits.ts'
import { isName } from '../names.ts'
import { CommandError } from './command.ts'

/** A value is always a project, so that one may be called as a setting is. */
export const traceProjectOptions = {
  'trace-project': { type: 'string' },
  'no-trace-project': { type: 'boolean' },
  'clear-trace-project': { type: 'boolean' },
} as const

export const traceProjectUsage = '--trace-project PROJECT|--no-trace-project|--clear-trace-project'

type Values = { -readonly [Name in keyof typeof traceProjectOptions]?: string | boolean | undefined }

/**
 * The project that records chats, or `tracesOff`; null removes the setting, and undefined leaves it as it is.
 *
 * @throws {CommandError}
 */
export function readTraceProject(values: Values): string | null | undefined {
  const { 'trace-project': project, 'no-trace-project': isOff, 'clear-trace-project': isCleared } = values
  const given = [project !== undefined, isOff, isCleared].filter(Boolean)
  if (given.length > 1) throw new CommandError(`Give only one of ${traceProjectUsage.replaceAll('|', ', ')}.`)
  if (isCleared) return null
  if (isOff) return tracesOff
  return typeof project === 'string' ? parseProject(project) : undefined
}

/** The value is always a project, even if it is called as the setting for none. */
function parseProject(text: string): string {
  if (text === tracesOff || text === projectCalledOff) return projectCalledOff
  if (isName(text) && !isReservedProject(text)) return text
  throw new CommandError(`--trace-project must be the name of a project, not "${text}".`)
}
