import { valueError, type ValidationIssue } from '../../../lib/http/http-error.ts'
import { isObject } from '../../../lib/json/is-object.ts'
import type { ResponseRequest } from './schema.ts'

/** The tools of a chat, and the issues of tools that a chat cannot have. */
export interface ChatTools {
  tools?: unknown[]
  tool_choice?: unknown
  issues: ValidationIssue[]
}

type Tool = Record<string, unknown>

/** Tools of a response are flat objects. Tools of a chat have a `function` member. */
export function convertTools({ tools, tool_choice: choice = null }: ResponseRequest): ChatTools {
  const given: Tool[] = tools ?? []
  const issues = given.flatMap(findUnsupportedTool)
  if (given.length === 0) return { issues: [...issues, ...findMissingTools(choice)] }
  if (isObject(choice) && choice['type'] === 'allowed_tools') return { ...allowTools(given, choice), issues }
  const converted = convertChoice(choice)
  if (converted === undefined) issues.push(unsupportedChoice())
  return { tools: given.map(convertTool), ...(choice !== null && { tool_choice: converted }), issues }
}

function findUnsupportedTool({ type }: Tool, index: number): ValidationIssue[] {
  if (type === 'function') return []
  const reason = `tools of the type ${String(type)} are not run here: describe it as a function, and run it yourself`
  return [valueError(['body', 'tools', String(index), 'type'], reason)]
}

/** Without tools, `auto` and `none` have no effect. */
function findMissingTools(choice: unknown): ValidationIssue[] {
  if (choice === null || choice === 'auto' || choice === 'none') return []
  return [valueError(['body', 'tool_choice'], 'a tool can be chosen only of tools')]
}

function convertTool({ type, ...described }: Tool): Tool {
  // SDKs send null for members that were not set.
  const set = Object.entries(described).filter(([, value]) => value !== null)
  return { type, function: Object.fromEntries(set) }
}

function convertChoice(choice: unknown): unknown {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice
  if (!isObject(choice)) return choice === null ? null : undefined
  return choice['type'] === 'function' ? { type: 'function', function: { name: choice['name'] } } : undefined
}

/** A choice among some of the tools. The model sees only these. */
function allowTools(tools: Tool[], { mode, tools: allowed }: Record<string, unknown>) {
  const listed: unknown[] = Array.isArray(allowed) ? allowed : []
  const names = new Set(listed.map((each) => (isObject(each) ? each['name'] : undefined)))
  return {
    tools: tools.filter(({ name }) => names.has(name)).map(convertTool),
    tool_choice: mode === 'required' ? 'required' : 'auto',
  }
}

function unsupportedChoice(): ValidationIssue {
  const reason = 'it should be auto, none, required, {"type": "function", "name": NAME} or a list of allowed tools'
  return valueError(['body', 'tool_choice'], reason)
}
