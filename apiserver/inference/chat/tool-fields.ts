import type { ChatRequest } from './chat-schema.ts'

type ToolFields = Partial<Pick<ChatRequest, 'tools' | 'tool_choice'>>

/**
 * The tool members that mean nothing, to be left out. Agent frameworks send an empty list where an agent has no tools, which
 * engines reject, as they reject a choice without tools. With tools and a null for the choice, they lose the call.
 */
export function leaveOutEmptyTools(chat: ToolFields): Record<string, undefined> {
  const { tools, tool_choice: choice } = chat
  const isFree = choice === undefined || choice === null || choice === 'auto' || choice === 'none'
  if (tools && tools.length > 0) return choice === null ? { tool_choice: undefined } : {}
  return { tools: undefined, ...(isFree && { tool_choice: undefined }) }
}
