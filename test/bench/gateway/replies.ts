const id = 'chatcmpl-9bcb2fd51faf07d4'
const created = 1_795_343_063
const words = [' The', ' "red"', ' fox', ' slept', ',', '\n', ' at', ' home', '.', ' Ünder']
const promptTokens = 900

/** A token in vLLM's form: its text, its log-probability and the text's bytes. */
function describeToken(index: number) {
  const token = words[index % words.length]!
  const logprob = -Math.abs(Math.sin(index + 1)) * 3
  const bytes = [...Buffer.from(token)]
  return { token, logprob, bytes, top_logprobs: [] }
}

const listTokens = (count: number) => Array.from({ length: count }, (_, index) => describeToken(index))
const identify = (index: number) => 1_000 + ((index * 7_919) % 150_000)

function countUsage(tokens: number) {
  return { prompt_tokens: promptTokens, total_tokens: promptTokens + tokens, completion_tokens: tokens }
}

/** A complete reply with the same members, order and nulls as vLLM's. */
export function buildReply(model: string, tokens: number): string {
  const content = listTokens(tokens)
  const text = content.map(({ token }) => token).join('')
  const message = { role: 'assistant', content: text, refusal: null, annotations: null, audio: null }
  const choice = {
    index: 0,
    message: { ...message, function_call: null, reasoning: null },
    logprobs: { content },
    finish_reason: 'length',
    stop_reason: null,
    token_ids: content.map((_, index) => identify(index)),
    routed_experts: null,
  }
  return JSON.stringify({
    id,
    object: 'chat.completion',
    created,
    model,
    choices: [choice],
    service_tier: null,
    system_fingerprint: null,
    usage: { ...countUsage(tokens), prompt_tokens_details: null, completion_tokens_details: null },
    prompt_logprobs: null,
    prompt_token_ids: null,
    prompt_text: null,
    kv_transfer_params: null,
    ec_transfer_params: null,
    metrics: null,
  })
}

/** The events of a streamed reply: the role, each token, and the usage at the end. */
export function buildEvents(model: string, tokens: number): string[] {
  const frame = (rest: object) =>
    `data: ${JSON.stringify({ id, object: 'chat.completion.chunk', created, model, ...rest })}\n\n`
  const role = { index: 0, delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null }
  const sampled = listTokens(tokens).map((described, index) => {
    const isLast = index === tokens - 1
    const delta = { content: described.token }
    const logprobs = { content: [described] }
    const end = isLast ? { finish_reason: 'length', stop_reason: null } : { finish_reason: null }
    return frame({ choices: [{ index: 0, delta, logprobs, ...end, token_ids: [identify(index)] }] })
  })
  return [frame({ choices: [role] }), ...sampled, frame({ choices: [], usage: countUsage(tokens) })]
}
