import type { ValidationIssue } from '../../../lib/http/http-error.ts'
import type { JsonMembers } from '../../../lib/json/members.ts'
import { isObject } from '../../../lib/json/is-object.ts'
import { parseText } from '../../../lib/json/parse-text.ts'
import type { ChatRequest } from './chat-schema.ts'
import { measureSchema, type SchemaSize } from './schema-size.ts'

// An engine compiles a reply's grammar into an automaton, and meanwhile starts no other request with a grammar. A
// grammar of 10,000 texts took 0.4 s. One of more than 30,000 was not compiled within minutes. Real schemas have a few
// kilobytes.
const maxBytes = 64 * 1024
const maxToolsBytes = 256 * 1024
const maxTools = 512
const maxItems = 1_000
const maxDepth = 64

// Functions are converted to tools.
const constraining = ['structured_outputs', 'response_format', 'tools', 'functions']

/** The members that set the form of a reply. */
type FormSettings = Pick<ChatRequest, 'response_format' | 'structured_outputs' | 'tool_choice' | 'tools'>

/** Returns the issues of the grammars that a chat asks for. They are bounded before an engine sees them. */
export function findLargeGrammars(chat: FormSettings, members: JsonMembers): ValidationIssue[] {
  if (!constraining.some((name) => members.has(name))) return []
  return [
    ...findLarge('structured_outputs', members, () => listTexts(chat.structured_outputs)),
    ...findLarge('response_format', members, () => [chat.response_format]),
    ...findManyTools(chat),
    ...findLarge(members.has('functions') ? 'functions' : 'tools', members, () => listConstraining(chat)),
  ]
}

function findLarge(name: string, members: JsonMembers, list: () => unknown[]): ValidationIssue[] {
  const bytes = members.get(name)?.length ?? 0
  const limit = name === 'tools' || name === 'functions' ? maxToolsBytes : maxBytes
  if (bytes > limit) return [issueOf(name, `${name} should have at most ${limit} bytes, not ${bytes}`)]
  const { items, depth } = sumSizes(list().map((value) => measureSchema(value, maxDepth)))
  if (depth > maxDepth) return [issueOf(name, `Schemas in ${name} should be nested at most ${maxDepth} deep`)]
  if (items <= maxItems) return []
  return [issueOf(name, `${name} should have at most ${maxItems} choices and properties in all, not ${items}`)]
}

function findManyTools({ tools }: FormSettings): ValidationIssue[] {
  const count = tools?.length ?? 0
  return count > maxTools ? [issueOf('tools', `A chat should have at most ${maxTools} tools, not ${count}`)] : []
}

/** The members of structured outputs. Schemas and structural tags may be JSON in a text. */
function listTexts(given: unknown): unknown[] {
  if (!isObject(given)) return []
  return Object.entries(given).map(([name, value]) =>
    (name === 'json' || name === 'structural_tag') && typeof value === 'string' ? parse(value) : value,
  )
}

/** The parameters of tools that the reply must match: those of tools that must be called, and of strict tools. */
function listConstraining({ tools, tool_choice: choice }: FormSettings): unknown[] {
  const all = (tools ?? []).flatMap((tool) => ('function' in tool && isObject(tool.function) ? [tool.function] : []))
  const named = isObject(choice) && isObject(choice['function']) ? choice['function']['name'] : undefined
  if (choice === 'none') return []
  return all
    .filter(({ name, strict }) => choice === 'required' || (named !== undefined && name === named) || strict === true)
    .map(({ parameters }) => parameters)
}

function sumSizes(sizes: SchemaSize[]): SchemaSize {
  return {
    items: sizes.reduce((sum, { items }) => sum + items, 0),
    depth: Math.max(0, ...sizes.map(({ depth }) => depth)),
  }
}

function parse(text: string): unknown {
  try {
    return parseText(text)
  } catch {
    // The engine rejects the text with its own message.
    return undefined
  }
}

function issueOf(name: string, msg: string): ValidationIssue {
  return { loc: ['body', name], msg, type: 'too_long' }
}
