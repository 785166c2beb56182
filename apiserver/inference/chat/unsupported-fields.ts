import type { ValidationIssue } from '../../../lib/http/http-error.ts'
import { argumentFields, chatFields, templateFields, type Fields } from './chat-fields.ts'
import type { ChatRequest } from './chat-schema.ts'

/**
 * Returns the issues of members that are not passed to engines. Members that are absent, null or empty have no meaning,
 * and pass.
 */
export function findUnsupportedFields(chat: ChatRequest): ValidationIssue[] {
  return [
    ...findUnsupported(chat, chatFields, []),
    ...findUnsupported(chat.engine_xargs, argumentFields, ['engine_xargs']),
    ...findUnsupported(chat['vllm_xargs'], argumentFields, ['vllm_xargs']),
    ...findUnsupported(chat.chat_template_kwargs, templateFields, ['chat_template_kwargs']),
  ]
}

/** Returns the issues of the members of a request, or of the part of a request at `path`. */
export function findUnsupported(value: unknown, fields: Fields, path: string[]): ValidationIssue[] {
  if (typeof value !== 'object' || value === null) return []
  const issues: ValidationIssue[] = []
  // This runs for every request, so it creates no list for each member.
  for (const name of Object.keys(value)) {
    const reason = Object.hasOwn(fields, name) ? fields[name] : null
    if (!reason || isEmpty((value as Record<string, unknown>)[name])) continue
    issues.push({ loc: ['body', ...path, name], msg: `${name} is not accepted: ${reason}`, type: 'value_error' })
  }
  return issues
}

function isEmpty(value: unknown): boolean {
  return value === null || (typeof value === 'object' && Object.keys(value).length === 0)
}
