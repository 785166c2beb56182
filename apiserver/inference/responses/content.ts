import { valueError, type ValidationIssue } from '../../../lib/http/http-error.ts'
import { isObject } from '../../../lib/json/is-object.ts'

/** A part of a chat message. */
export type ChatPart = { type: string } & Record<string, unknown>
export type ChatContent = string | ChatPart[]

interface ReadContent {
  content: ChatContent
  issues: ValidationIssue[]
}

const partTypes = 'input_text, output_text, refusal, input_image and input_audio'

/**
 * Converts the content of an item to the content of a chat message. A single text part becomes a plain text, because
 * every template accepts it.
 *
 * @param path of the item
 */
export function readContent(value: unknown, path: string[], name = 'content'): ReadContent {
  if (typeof value === 'string') return { content: value, issues: [] }
  const at = ['body', ...path, name]
  if (!Array.isArray(value))
    return { content: '', issues: [valueError(at, `${name} should be a text or a list of parts`)] }
  const read = value.map(readPart)
  const issues = read.flatMap((part, index) =>
    part
      ? []
      : [valueError([...at, String(index)], `this part should have one of the types ${partTypes}, and its content`)],
  )
  const content = read.filter((part) => part !== undefined)
  const [only] = content
  const isOneText = content.length === 1 && only?.type === 'text'
  return { content: isOneText ? String(only['text']) : content, issues }
}

/** Undefined for a part of an unknown type. */
function readPart(part: unknown): ChatPart | undefined {
  if (!isObject(part)) return undefined
  const { type, text, refusal, image_url: url, detail = null, ...more } = part
  if (type === 'input_text' || type === 'output_text' || type === 'text') {
    return typeof text === 'string' ? { type: 'text', text } : undefined
  }
  if (type === 'refusal') return typeof refusal === 'string' ? { type: 'text', text: refusal } : undefined
  // The chat rejects unsupported members, such as the id of a file.
  if (type === 'input_image')
    return { ...more, type: 'image_url', image_url: { url, ...(detail !== null && { detail }) } }
  return type === 'input_audio' ? { ...more, type } : undefined
}
