/** Keys under which instrumentations write the same thing; the first that holds something is taken. */
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
]

/** Kinds of tokens in a call's usage. */
export const usageKeys = {
  input_tokens: ['gen_ai.usage.input_tokens'],
  prompt_tokens: ['gen_ai.usage.prompt_tokens', 'llm.token_count.prompt', 'ai.usage.promptTokens'],
  completion_tokens: ['gen_ai.usage.completion_tokens', 'llm.token_count.completion', 'ai.usage.completionTokens'],
  output_tokens: ['gen_ai.usage.output_tokens'],
  total_tokens: ['llm.usage.total_tokens', 'llm.token_count.total'],
} satisfies Record<string, Keys>

/** Members of a call's attributes. */
export const attributeKeys: Record<string, Keys> = {
  system: ['gen_ai.system', 'llm.system'],
  kind: ['weave.span.kind', 'traceloop.span.kind', 'openinference.span.kind'],
  model: ['gen_ai.response.model', 'llm.model_name', 'ai.model.id'],
  provider: ['llm.provider', 'ai.model.provider'],
  model_parameters: ['gen_ai.request', 'llm.invocation_parameters'],
}

/** What says how a call is shown and where it belongs. */
export const callKeys = {
  displayName: ['wandb.display_name'],
  threadId: ['gcp.vertex.agent.session_id', 'wandb.thread_id'],
  isTurn: ['gcp.vertex.agent.session_id', 'wandb.is_turn'],
  attributes: ['wandb.attributes'],
  runId: ['wandb.wb_run_id'],
  runStep: ['wandb.wb_run_step'],
  runStepEnd: ['wandb.wb_run_step_end'],
} satisfies Record<string, Keys>

/** Times that count more than the span's own: Langfuse writes spans after the fact. */
export const timeKeys = {
  start: ['langfuse.startTime'],
  end: ['langfuse.endTime'],
} satisfies Record<string, Keys>
