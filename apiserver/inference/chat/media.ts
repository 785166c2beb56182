import type { ValidationIssue } from '../../../lib/http/http-error.ts'
import type { ChatRequest } from './chat-schema.ts'

const dataScheme = /^data:/i
// Members that contain or may contain an address, in any kind of part: image_url, video_url, file_id, path, image.
const addressName = /(^|_)(url|uri|href|path|file|file_id|image|audio|video)$/i
// A tensor from the client. The engine would deserialize it.
const tensorName = /(^|_)embeds$/i
// In parts of these types, vLLM reads only the member with the same name, or a media member, which must begin with
// `data:`.
const textTypes = ['text', 'input_text', 'output_text', 'refusal', 'thinking', 'tool_reference']
const mediaTypes = ['image_url', 'input_image', 'audio_url', 'input_audio', 'video_url']
const types = new Set([...textTypes, ...mediaTypes])
// For a part without a type, vLLM uses the first member that it knows as the type.
const typelessMembers = new Set([...mediaTypes, 'text', 'detail'])
const maxIssues = 10

/**
 * Returns the issues of the media in a chat's messages. An engine must not fetch an address for a client, and must not
 * deserialize a tensor. It must not look up media by an id either, because a client could read or replace the media of
 * others with it.
 */
export function findUnsupportedMedia({ messages }: Pick<ChatRequest, 'messages'>): ValidationIssue[] {
  const issues: ValidationIssue[] = []
  for (const [index, { content }] of messages.entries()) {
    if (typeof content !== 'object' || content === null) continue
    const parts: unknown[] = Array.isArray(content) ? content : [content]
    for (const [at, part] of parts.entries()) {
      if (typeof part !== 'object' || part === null) continue
      const wrong = findInPart(part)
      if (wrong) issues.push(issueOf(['messages', String(index), 'content', String(at), ...wrong.path], wrong.msg))
      if (issues.length === maxIssues) return issues
    }
  }
  return issues
}

interface Wrong {
  path: string[]
  msg: string
}

function findInPart(part: object): Wrong | undefined {
  for (const [name, value] of Object.entries(part)) {
    if (value === null) continue
    if (tensorName.test(name) || (name === 'type' && typeof value === 'string' && tensorName.test(value)))
      return { path: [name], msg: 'Tensors are not accepted: send text, or send the media as a data: URL' }
    if (name === 'uuid')
      return { path: [name], msg: 'Media ids are not supported: remove the id, and send the media as a data: URL' }
    const path = findAddress(name, value)
    if (path) return { path, msg: 'Engines do not fetch URLs: send the media as a data: URL' }
  }
  return findUnknown(part)
}

/** A part of an unknown type is rejected, because it may contain an address or a path. */
function findUnknown(part: object): Wrong | undefined {
  const { type = null } = part as { type?: unknown }
  if (type === null) {
    const unknown = Object.entries(part).find(([name, value]) => value !== null && !typelessMembers.has(name))
    return unknown && { path: [unknown[0]], msg: 'A part with this field needs a type' }
  }
  if (typeof type === 'string' && types.has(type)) return undefined
  return { path: ['type'], msg: `A part's type should be one of ${[...types].join(', ')}` }
}

/** Returns the path of a member, or of a member in it, that contains an address other than a data: URL. */
function findAddress(name: string, value: unknown): string[] | undefined {
  if (typeof value !== 'object' || value === null) return isForeign(name, value) ? [name] : undefined
  const isList = Array.isArray(value)
  const found = Object.entries(value).find(([inner, given]) => isForeign(isList ? name : inner, given))
  return found && [name, found[0]]
}

function isForeign(name: string, given: unknown): boolean {
  if (given === null || given === '' || !addressName.test(name)) return false
  return typeof given !== 'string' || !dataScheme.test(given)
}

function issueOf(path: string[], msg: string): ValidationIssue {
  return { loc: ['body', ...path], msg, type: 'value_error' }
}
