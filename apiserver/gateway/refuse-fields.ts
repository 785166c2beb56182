import type { Fault } from '../refusal.ts'
import { chatFields, refusedArguments } from './chat-fields.ts'
import type { ChatRequest } from './chat-schema.ts'

const argumentFields = ['engine_xargs', 'vllm_xargs'] as const

/** What is wrong with the members of a chat that no engine gets; absent, null and empty ones mean nothing, and pass. */
export function findRefusedFields(chat: ChatRequest): Fault[] {
  const { chat_template_kwargs: template } = chat
  return [
    ...findRefused(chat, chatFields, []),
    ...argumentFields.flatMap((name) => findRefused(chat[name], refusedArguments, [name])),
    ...findRefused(template, { chat_template: chatFields['chat_template']! }, ['chat_template_kwargs']),
  ]
}

function findRefused(value: unknown, reasons: Readonly<Record<string, string | null>>, place: string[]): Fault[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) => {
    const reason = Object.hasOwn(reasons, name) ? reasons[name] : null
    if (!reason || isEmpty(member)) return []
    return [{ loc: ['body', ...place, name], msg: `${name} is not taken: ${reason}`, type: 'value_error' }]
  })
}

function isEmpty(value: unknown): boolean {
  return value === null || (typeof value === 'object' && Object.keys(value).length === 0)
}
