import { expect } from 'vitest'
import type { ChatClient, Row } from './ask.ts'

// Ids of words of the tiny model.
const [first, second, third] = [300, 301, 302]
const allowed = { allowed_token_ids: [first, second, third], max_completion_tokens: 8 }

const sampleAs = async (chat: ChatClient, body: object) =>
  expect((await chat.choose({ temperature: 1, ...body })).token_ids).toEqual((await chat.choose({})).token_ids)

/** Counts the different tokens among three that are allowed. */
async function countKinds(chat: ChatClient, body: object): Promise<number> {
  const { token_ids: ids } = await chat.choose({ ...allowed, ...body })
  return new Set(ids).size
}

const sampleSeed = (chat: ChatClient, seed: string) =>
  chat.text(chat.write({ temperature: 1, max_completion_tokens: 16, seed: 0 }).replace('"seed":0', `"seed":${seed}`))

/** Members that decide which token comes next. */
export const samplingRows = {
  temperature: async (chat) => {
    expect(await chat.text({})).toBe(await chat.text({}))
    const { choices } = await chat.reply({ temperature: 2, n: 8 })
    expect(new Set(choices.map(({ message }) => message.content)).size).toBeGreaterThan(1)
  },
  top_p: (chat) => sampleAs(chat, { top_p: 1e-9 }),
  top_k: (chat) => sampleAs(chat, { top_k: 1 }),
  min_p: (chat) => sampleAs(chat, { min_p: 1 }),
  frequency_penalty: async (chat) => {
    expect(await countKinds(chat, { frequency_penalty: -2 })).toBe(1)
    expect(await countKinds(chat, { frequency_penalty: 2 })).toBeGreaterThan(1)
  },
  presence_penalty: async (chat) => {
    expect(await countKinds(chat, { presence_penalty: -2 })).toBe(1)
    expect(await countKinds(chat, { presence_penalty: 2 })).toBeGreaterThan(1)
  },
  repetition_penalty: async (chat) => {
    expect(await countKinds(chat, { repetition_penalty: 0.01 })).toBe(1)
    expect(await countKinds(chat, { repetition_penalty: 100 })).toBeGreaterThan(1)
  },
  logit_bias: async (chat) => {
    const { token_ids: ids } = await chat.choose({ logit_bias: { [first]: 100 }, max_completion_tokens: 3 })
    expect(ids).toEqual([first, first, first])
  },
  allowed_token_ids: async (chat) => {
    const { token_ids: ids } = await chat.choose({ ...allowed, temperature: 2 })
    expect([first, second, third]).toEqual(expect.arrayContaining(ids))
  },
  bad_words: async (chat) => {
    const [word] = (await chat.text({}))!.split(' ')
    expect(await chat.text({ bad_words: [word] })).not.toContain(word)
  },
  // A double has 53 bits. A seed that was rounded on the way would be out of range, or the next number. CPUs use 32
  // bits of it.
  seed: async (chat) => {
    const text = await sampleSeed(chat, '9007199254740993')
    expect(await sampleSeed(chat, '9007199254740993')).toBe(text)
    expect(await sampleSeed(chat, '9007199254740992')).not.toBe(text)
    const [largest, smallest] = ['9223372036854775807', '-9223372036854775808']
    expect(await sampleSeed(chat, largest)).not.toBe(await sampleSeed(chat, smallest))
    const beyond = await chat.reject(chat.write({ seed: 0 }).replace('"seed":0', '"seed":9223372036854775808'))
    expect(beyond).toMatchObject({ status: 422, error: { param: 'seed' } })
  },
  n: async (chat) => {
    const { choices } = await chat.reply({ n: 3, temperature: 1 })
    expect(choices.map(({ index }) => index)).toEqual([0, 1, 2])
  },
  use_beam_search: async (chat) => {
    const { choices } = await chat.reply({ use_beam_search: true, n: 2 })
    expect(new Set(choices.map(({ message }) => message.content)).size).toBe(2)
  },
  // The score of a beam is divided by its length to this power. Values above 1 prefer longer beams.
  length_penalty: async (chat) => {
    const search = (penalty: number) =>
      chat.text({ use_beam_search: true, n: 4, max_completion_tokens: 14, length_penalty: penalty })
    expect(await search(-2)).not.toBe(await search(4))
  },
} satisfies Record<string, Row>
