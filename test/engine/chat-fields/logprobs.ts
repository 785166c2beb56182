import { expect } from 'vitest'
import { rejects, type Row, type Token } from './ask.ts'

const decode = (tokens: Token[]) => Buffer.from(tokens.flatMap(({ bytes }) => bytes)).toString()
const listTokens = (tokens: Token[]) => tokens.map(({ token }) => token)

/** Members that decide what a reply contains about its tokens. */
export const logprobRows = {
  logprobs: async (chat) => {
    const { message, logprobs } = await chat.choose({ logprobs: true })
    const { content } = logprobs!
    expect(content).toHaveLength(6)
    expect(decode(content)).toBe(message.content)
    expect(listTokens(content).join('')).toBe(message.content)
    for (const { logprob } of content) expect(logprob).toBeLessThanOrEqual(0)
    expect((await chat.choose({ logprobs: false })).logprobs).toBeNull()
  },
  top_logprobs: async (chat) => {
    const { logprobs } = await chat.choose({ logprobs: true, top_logprobs: 3 })
    for (const { token, logprob, top_logprobs: likeliest } of logprobs!.content) {
      expect(likeliest).toHaveLength(3)
      expect(likeliest[0]).toMatchObject({ token, logprob, bytes: [...Buffer.from(token)] })
      expect(likeliest[1]!.logprob).toBeLessThanOrEqual(logprob)
    }
    await rejects({ logprobs: true, top_logprobs: 21 }, 'logprobs', 'greater than max allowed: 20')(chat)
    await rejects({ top_logprobs: 1 }, 'top_logprobs', '`logprobs` must be set to true')(chat)
  },
  prompt_logprobs: async (chat) => {
    const { prompt_logprobs: all, usage } = await chat.reply({ prompt_logprobs: 1, max_completion_tokens: 1 })
    expect(all).toHaveLength(usage.prompt_tokens)
    expect(all![0]).toBeNull()
    for (const likeliest of all!.slice(1)) {
      const values = Object.values(likeliest!)
      expect([1, 2]).toContain(values.length)
      expect(values[0]).toMatchObject({ logprob: expect.any(Number) as unknown, rank: expect.any(Number) as unknown })
    }
    await rejects({ prompt_logprobs: 1, stream: true }, 'prompt_logprobs', 'not available when `stream=True`')(chat)
  },
  return_tokens_as_token_ids: async (chat) => {
    const body = { logprobs: true, return_tokens_as_token_ids: true }
    const { logprobs, token_ids: ids } = await chat.choose(body)
    const named = ids.map((id) => `token_id:${id}`)
    expect(listTokens(logprobs!.content)).toEqual(named)
    const chunks = await chat.stream(body)
    const streamed = chunks.flatMap(({ choices }) => choices[0]?.logprobs?.content ?? [])
    expect(listTokens(streamed)).toEqual(named)
  },
  return_token_ids: async (chat) => {
    const reply = await chat.reply({ return_token_ids: true })
    const { prompt_token_ids: promptIds, usage } = reply
    expect(promptIds).toHaveLength(usage.prompt_tokens)
    expect(reply.choices[0]!.token_ids).toHaveLength(6)
    const [first, ...rest] = await chat.stream({ return_token_ids: true })
    expect(first!.prompt_token_ids).toEqual(promptIds)
    expect(rest.flatMap(({ choices }) => choices[0]!.token_ids)).toEqual(reply.choices[0]!.token_ids)
    for (const chunk of rest) expect(chunk.prompt_token_ids).toBeUndefined()
  },
} satisfies Record<string, Row>
