import { cleanJson } from '../../../lib/json/clean.ts'
import { isObject } from '../../../lib/json/is-object.ts'
import { JsonText, writeJsonText } from '../../../lib/json/json-text.ts'
import type { RequestState } from '../../accounts/context.ts'
import type { StorageUse } from '../../accounts/limits/storage.ts'
import type { ChatOutcome, TracedOperation } from '../../inference/chat-traces.ts'
import { measurePart, type CallEnd, type CallPart } from '../calls/parts.ts'
import type { CallWriter } from '../calls/writer.ts'
import { ChunkMerger } from '../completions/merge-chunks.ts'
import { newId } from '../ids.ts'
import type { Projects } from '../projects.ts'

/** What writing chats needs. */
export interface WriteDeps {
  calls: CallWriter
  projects: Projects
  storage: StorageUse
}

/** A chat that has ended. */
export interface GatheredChat {
  /** The request that the client sent. */
  request: Buffer
  /** The reply that the client got. */
  reply: Buffer
  startedAt: string
  endedAt: string
  operation: TracedOperation
  outcome: ChatOutcome
}

const disconnected = 'The client disconnected before the answer was complete.'

/** A call of a project. */
interface ProjectCall {
  project: string
  part: CallPart
}

/** Writes a call of an entity's project. @throws {HttpError} 403 if the entity has no storage left */
export async function writeCall(
  deps: WriteDeps,
  { caller, limits }: RequestState,
  { project: name, part }: ProjectCall,
): Promise<void> {
  const { entity } = caller
  const project = await deps.projects.open(caller, `${entity}/${name}`)
  const incoming = await deps.storage.admitTraces({ entity, limit: limits.storedBytes, announced: measurePart(part) })
  try {
    incoming.add(measurePart(part))
    await deps.calls.write(project, [part])
    incoming.keep()
  } finally {
    incoming.release()
  }
}

/** The current time in the form of instants.ts. */
export function nowText(): string {
  return new Date().toISOString().replace('Z', '000Z')
}

/** Builds the call of a chat. */
export function buildCall(chat: GatheredChat, keyId: string): CallPart {
  const { operation: opName, startedAt } = chat
  const attributes = writeJsonText({})
  const inputs = new JsonText(cleanJson(chat.request))
  const start = { traceId: newId(), opName, startedAt, attributes, inputs, wbUserId: keyId }
  return { id: newId(), start, end: buildEnd(chat) }
}

function buildEnd({ reply, endedAt, outcome }: GatheredChat): CallEnd {
  const { promptTokens, completionTokens } = outcome.tokens
  const usage = {
    requests: 1,
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  }
  const summary = writeJsonText({ usage: { [outcome.model]: usage } })
  const { output, error } = outcome.isStream ? mergeEvents(reply) : readComplete(reply)
  return { endedAt, output, summary, exception: outcome.hasLeft ? disconnected : (outcome.error ?? error) }
}

interface Output {
  output: JsonText | null
  error?: string | undefined
}

/** If the client has left, the reply may be incomplete. */
function readComplete(reply: Buffer): Output {
  try {
    JSON.parse(reply.toString())
    return { output: new JsonText(cleanJson(reply)) }
  } catch {
    return { output: null }
  }
}

function mergeEvents(reply: Buffer): Output {
  const merger = new ChunkMerger()
  for (const line of reply.toString().split('\n')) merger.add(readEvent(line))
  const output = merger.merge()
  return { output: output ? writeJsonText(output) : null, error: merger.error }
}

function readEvent(line: string): unknown {
  try {
    const value: unknown = line.startsWith('data:') ? JSON.parse(line.slice('data:'.length)) : undefined
    return isObject(value) ? value : undefined
  } catch {
    // "[DONE]", or the incomplete last event.
    return undefined
  }
}
