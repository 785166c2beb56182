import { isReservedProject } from '../../../crds/names.ts'
import { isName } from '../names.ts'
import { CommandError } from './command.ts'

/** The project that records chats, or `off`; null for "default". @throws {CommandError} */
export function parseTraceProject(text: string): string | null {
  if (text === 'default') return null
  if (isName(text) && !isReservedProject(text)) return text
  throw new CommandError(`--trace-project must be the name of a project, off or "default", not "${text}".`)
}
