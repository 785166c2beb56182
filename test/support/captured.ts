// Trajectories whose client has captured its exchanges with the model, as ART 0.5.23 sends them.

export const protocols = ['chat_completions', 'completions', 'responses', 'messages'] as const
export type Protocol = (typeof protocols)[number]

/** A question and its answer. */
export interface Asked {
  model: string
  prompt: string
  answer: string
  startedAt?: string
}

const ids = (text: string) => text.split(/(?= )/).map((_, index) => index + 5)
const tokensOf = (text: string) => text.split(/(?= )/)
const logprobOf = (index: number) => -(index + 1) / 10

const build: Record<Protocol, (asked: Asked) => { request: object; response: object }> = {
  chat_completions: ({ prompt, answer }) => ({
    request: { messages: [{ role: 'user', content: prompt }], return_token_ids: true },
    response: {
      object: 'chat.completion',
      prompt_token_ids: [1, 87],
      choices: [
        {
          index: 0,
          finish_reason: 'stop',
          message: { role: 'assistant', content: answer, reasoning: null },
          logprobs: {
            content: tokensOf(answer).map((token, index) => ({
              token: `token_id:${index + 5}`,
              logprob: logprobOf(index),
              bytes: [...Buffer.from(token)],
              top_logprobs: [],
            })),
          },
          token_ids: ids(answer),
        },
      ],
    },
  }),
  completions: ({ prompt, answer }) => ({
    request: { prompt },
    response: {
      object: 'text_completion',
      choices: [
        {
          index: 0,
          text: answer,
          finish_reason: 'stop',
          prompt_token_ids: [1, 87],
          token_ids: ids(answer),
          logprobs: { tokens: tokensOf(answer), token_logprobs: ids(answer).map((_, index) => logprobOf(index)) },
        },
      ],
    },
  }),
  responses: ({ prompt, answer }) => ({
    request: { input: prompt },
    response: {
      object: 'response',
      status: 'completed',
      output: [
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: answer, annotations: [] }] },
      ],
      token_generations: [
        {
          prompt_token_ids: [1, 87],
          output_tokens: ids(answer).map((token_id, index) => ({ token_id, logprob: logprobOf(index) })),
          output_indices: [0],
        },
      ],
    },
  }),
  messages: ({ prompt, answer }) => ({
    request: { max_tokens: 64, messages: [{ role: 'user', content: prompt }] },
    response: {
      type: 'message',
      role: 'assistant',
      content: [{ type: 'text', text: answer }],
      stop_reason: 'end_turn',
      prompt_token_ids: [1, 87],
      token_ids: ids(answer),
      logprobs: ids(answer).map((_, index) => logprobOf(index)),
    },
  }),
}

/** An exchange in a protocol. */
export function captureExchange(protocol: Protocol, asked: Asked) {
  const { request, response } = build[protocol](asked)
  const { model, startedAt = '2026-11-29T06:40:05.090190Z' } = asked
  const times = { start_time: startedAt, end_time: startedAt }
  return { ...times, request: { ...request, model }, response: { ...response, model }, model }
}

/** The exchange with another model. */
export const judge = captureExchange('chat_completions', {
  model: 'openai/judge',
  prompt: 'Is orange right?',
  answer: 'Perhaps it is right or not.',
})

/** The exchanges of a trajectory: one in a protocol, and a judge's. */
export function captureJudged(protocol: Protocol, asked: Asked) {
  const own = captureExchange(protocol, asked)
  return { chat_completions: [judge], [protocol]: protocol === 'chat_completions' ? [judge, own] : [own] }
}
