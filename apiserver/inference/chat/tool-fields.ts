import type { ChatRequest } from './chat-schema.ts'

type ToolFields = Partial<Pick<ChatRequest, 'tools' | 'tool_choice'>>

/**
 * The tool members without a meaning, which are left out. Agent frameworks send an empty list for an agent without
 * tools. Engines reject it, and they reject a choice without tools. If the choice is null, engines that have tools do
 * not report the call.
 */
export function leaveOutEmptyTools(chat: ToolFields): Record<string, undefined> {
  const { tools, tool_choice: choice } = chat
  const isFree = choice === undefined || choice === null || choice === 'auto' || choice === 'none'
  if (tools && tools.length > 0) return choice === null ? { tool_choice: undefined } : {}
  return { tools: undefined, ...(isFree && { tool_choice: undefined }) }
}
