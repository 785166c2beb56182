/**
 * Keys that different instrumentations use for the same fact. The first key with a value wins. Those of the GenAI
 * conventions, of pydantic-ai and of the Vercel AI SDK's tools come after those that production reads.
 */
export type Keys = readonly string[]

export const inputKeys: Keys = [
  'ai.prompt',
  'gen_ai.prompt',
  'input.value',
  'mlflow.spanInputs',
  'traceloop.entity.input',
  'gcp.vertex.agent.tool_call_args',
  'gcp.vertex.agent.llm_request',
  'input',
  'inputs',
  'gen_ai.input.messages',
  'gen_ai.tool.call.arguments',
  'pydantic_ai.all_messages',
  'tool_arguments',
  'ai.toolCall.args',
]

export const outputKeys: Keys = [
  'ai.response',
  'gen_ai.completion',
  'output.value',
  'mlflow.spanOutputs',
  'gen_ai.content.completion',
  'traceloop.entity.output',
  'gcp.vertex.agent.tool_response',
  'gcp.vertex.agent.llm_response',
  'output',
  'outputs',
  'gen_ai.output.messages',
  'gen_ai.tool.call.result',
  'final_result',
  'tool_response',
  'ai.toolCall.result',
]

/** It belongs to the messages, and stands beside them. */
export const systemInstructions = 'gen_ai.system_instructions'

/** What is under these keys is the inputs or the output, without its key: arguments of tools have names themselves. */
export const unwrappedKeys: ReadonlySet<string> = new Set([
  'input',
  'inputs',
  'gen_ai.tool.call.arguments',
  'tool_arguments',
  'ai.toolCall.args',
  'output',
  'outputs',
  'gen_ai.tool.call.result',
  'final_result',
  'tool_response',
  'ai.toolCall.result',
])

/** Keys for the kinds of tokens in a call's usage. */
export const usageKeys = {
  input_tokens: ['gen_ai.usage.input_tokens', 'ai.usage.inputTokens'],
  prompt_tokens: ['gen_ai.usage.prompt_tokens', 'llm.token_count.prompt', 'ai.usage.promptTokens'],
  completion_tokens: ['gen_ai.usage.completion_tokens', 'llm.token_count.completion', 'ai.usage.completionTokens'],
  output_tokens: ['gen_ai.usage.output_tokens', 'ai.usage.outputTokens'],
  total_tokens: [
    'llm.usage.total_tokens',
    'llm.token_count.total',
    'gen_ai.usage.total_tokens',
    'ai.usage.totalTokens',
  ],
} satisfies Record<string, Keys>

/** Keys for the members of a call's attributes. */
export const attributeKeys: Record<string, Keys> = {
  system: ['gen_ai.system', 'llm.system'],
  kind: ['weave.span.kind', 'traceloop.span.kind', 'openinference.span.kind', 'gen_ai.operation.name'],
  model: ['gen_ai.response.model', 'llm.model_name', 'ai.model.id'],
  provider: ['llm.provider', 'ai.model.provider', 'gen_ai.provider.name'],
  model_parameters: ['gen_ai.request', 'llm.invocation_parameters'],
}

/** Keys for a call's display name, its thread and its run. */
export const callKeys = {
  displayName: ['wandb.display_name'],
  threadId: ['gcp.vertex.agent.session_id', 'wandb.thread_id'],
  conversationId: ['gen_ai.conversation.id', 'session.id', 'ai.telemetry.metadata.sessionId'],
  operation: ['gen_ai.operation.name'],
  isTurn: ['gcp.vertex.agent.session_id', 'wandb.is_turn'],
  attributes: ['wandb.attributes'],
  runId: ['wandb.wb_run_id'],
  runStep: ['wandb.wb_run_step'],
  runStepEnd: ['wandb.wb_run_step_end'],
} satisfies Record<string, Keys>

/** Times that replace those of the span: Langfuse writes spans later than they happened. */
export const timeKeys = {
  start: ['langfuse.startTime'],
  end: ['langfuse.endTime'],
} satisfies Record<string, Keys>
