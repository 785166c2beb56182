import { expect } from 'vitest'
import type { ChatClient, Row } from './ask.ts'

const endId = 2
const endsAtOnce = { logit_bias: { [endId]: 100 } }
const word = 300
const sayWord = { logit_bias: { [word]: 100 } }

const countSampled = async (chat: ChatClient, body: object) => (await chat.reply(body)).usage.completion_tokens

/** Members that decide where a reply ends. */
export const lengthRows = {
  max_tokens: async (chat) => {
    const { choices, usage } = await chat.reply({ max_completion_tokens: undefined, max_tokens: 3 })
    expect(usage.completion_tokens).toBe(3)
    expect(choices[0]!.finish_reason).toBe('length')
  },
  max_completion_tokens: async (chat) => {
    expect(await countSampled(chat, { max_completion_tokens: 2, max_tokens: 5 })).toBe(2)
  },
  min_tokens: async (chat) => {
    expect(await countSampled(chat, endsAtOnce)).toBe(1)
    expect(await countSampled(chat, { ...endsAtOnce, min_tokens: 4 })).toBe(5)
  },
  ignore_eos: async (chat) => {
    const { token_ids: ids, finish_reason: reason } = await chat.choose({ ...endsAtOnce, ignore_eos: true })
    expect(ids).toEqual(Array(6).fill(endId))
    expect(reason).toBe('length')
  },
  stop: async (chat) => {
    const whole = (await chat.text({}))!
    const [, stop] = whole.split(' ')
    for (const given of [stop, ['never', stop]]) {
      const { message, finish_reason: reason, stop_reason: found } = await chat.choose({ stop: given })
      expect(message.content).toBe(whole.slice(0, whole.indexOf(stop!)))
      expect([reason, found]).toEqual(['stop', stop])
    }
  },
  include_stop_str_in_output: async (chat) => {
    const whole = (await chat.text({}))!
    const [, stop] = whole.split(' ')
    const text = await chat.text({ stop, include_stop_str_in_output: true })
    expect(text).toBe(whole.slice(0, whole.indexOf(stop!) + stop!.length))
  },
  stop_token_ids: async (chat) => {
    const { token_ids: ids, stop_reason: found } = await chat.choose({ ...sayWord, stop_token_ids: [word] })
    expect([ids, found]).toEqual([[word], word])
  },
  skip_special_tokens: async (chat) => {
    const body = { ...endsAtOnce, ignore_eos: true, max_completion_tokens: 1 }
    expect(await chat.text(body)).toBe('')
    expect(await chat.text({ ...body, skip_special_tokens: false })).toBe('<|im_end|>')
  },
  // Engines use it for tokenizers in Python. Others add no spaces.
  spaces_between_special_tokens: async (chat) => {
    const body = { ...endsAtOnce, ignore_eos: true, max_completion_tokens: 2, skip_special_tokens: false }
    expect(await chat.text({ ...body, spaces_between_special_tokens: true })).toBe('<|im_end|><|im_end|>')
  },
} satisfies Record<string, Row>
