import { completeChat, type ChatReply } from '../../gateway/chat.ts'
import type { JsonDocument } from '../../json/document.ts'
import { JsonError } from '../../json/text.ts'
import { Refusal } from '../../refusal.ts'
import type { TraceDeps } from '../deps.ts'
import { badRequest } from '../refusals.ts'
import { buildChat, type ChatInputs } from './chat-inputs.ts'
import { readPrompt } from './prompt.ts'
import type { Place, TrackedCall } from './tracked-call.ts'

/** What a call says whose client did not wait. */
export const clientLeft = 'The client left before the answer was complete.'

/** A completion that is asked for. */
export interface Completion extends Place {
  inputs: ChatInputs
  /** Undefined when none is wanted. */
  tracked: TrackedCall | undefined
  /** The project that its usage is charged to; undefined for the model's own. */
  charged: string | undefined
  /** Aborted when the client has left. */
  signal: AbortSignal
}

/** The chat with the messages of its prompt and its variables in it, or why it cannot be made. */
export async function prepareChat(
  deps: TraceDeps,
  completion: Completion,
  isStream: boolean,
): Promise<JsonDocument | Refusal> {
  const { inputs } = completion
  try {
    const messages = inputs.prompt === undefined ? [] : await readPrompt(deps, completion, inputs.prompt)
    return buildChat(inputs, messages, isStream)
  } catch (error) {
    if (error instanceof JsonError) return badRequest(error.message)
    if (error instanceof Refusal && error.status < 500) return error
    throw error
  }
}

/** Asks an engine as the gateway does, which also charges what is used. */
export function askEngine({ main }: TraceDeps, completion: Completion, document: JsonDocument): Promise<ChatReply> {
  const { caller, charged: project, signal } = completion
  return completeChat(main, { document, caller, project, signal })
}
