import type { ResponseUsage } from './chat-reply.ts'
import type { OutputItem } from './output-items.ts'
import type { ResponseRequest } from './schema.ts'

/** The values of a response that are known before it is created. */
export interface ResponseFacts {
  id: string
  createdAt: Date
  /** The client's name of the model. */
  model: string
  request: ResponseRequest
  /** Whether the response can be read later. */
  isStored: boolean
}

/** The progress of a response. */
export interface ResponseState {
  status: 'in_progress' | 'completed' | 'incomplete' | 'failed'
  output: readonly OutputItem[]
  usage: ResponseUsage | null
  error?: { code: string; message: string }
}

/** Presents a response in OpenAI's form. For members that the request did not set, it contains the defaults. */
export function presentResponse(facts: ResponseFacts, state: ResponseState) {
  const { request } = facts
  return {
    id: facts.id,
    object: 'response',
    created_at: toSeconds(facts.createdAt),
    ...presentState(state),
    model: facts.model,
    background: false,
    instructions: request.instructions ?? null,
    previous_response_id: request.previous_response_id ?? null,
    store: facts.isStored,
    metadata: request.metadata ?? {},
    ...presentTools(request),
    ...presentSampling(request),
    ...presentLabels(request),
  }
}

export type PresentedResponse = ReturnType<typeof presentResponse>

function presentState({ status, output, usage, error }: ResponseState) {
  return {
    status,
    completed_at: status === 'completed' ? toSeconds(new Date()) : null,
    error: error ?? null,
    incomplete_details: status === 'incomplete' ? { reason: 'max_output_tokens' } : null,
    output,
    usage,
  }
}

function presentTools(request: ResponseRequest) {
  return {
    tools: request.tools ?? [],
    tool_choice: request.tool_choice ?? 'auto',
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    max_tool_calls: request.max_tool_calls ?? null,
  }
}

function presentSampling(request: ResponseRequest) {
  return {
    max_output_tokens: request.max_output_tokens ?? null,
    temperature: request.temperature ?? null,
    top_p: request.top_p ?? null,
    top_logprobs: request.top_logprobs ?? 0,
    truncation: request.truncation ?? 'disabled',
    reasoning: { effort: request.reasoning?.effort ?? null, summary: request.reasoning?.summary ?? null },
    text: { format: request.text?.format ?? { type: 'text' }, verbosity: request.text?.verbosity ?? 'medium' },
  }
}

/** Members that have no effect here. */
function presentLabels(request: ResponseRequest) {
  return {
    user: request.user ?? null,
    safety_identifier: request.safety_identifier ?? null,
    prompt_cache_key: request.prompt_cache_key ?? null,
    prompt_cache_retention: request.prompt_cache_retention ?? null,
    service_tier: 'default',
  }
}

function toSeconds(time: Date): number {
  return Math.floor(time.getTime() / 1000)
}
