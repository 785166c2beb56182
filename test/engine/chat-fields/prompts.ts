import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { rejects, type ChatClient, type Row } from './ask.ts'

const user = { role: 'user', content: 'How is the sea?' }
const opened = [user, { role: 'assistant', content: 'The sea is' }]
const continued = { messages: opened, add_generation_prompt: false, continue_final_message: true }

/** Returns the text that the template renders for a chat. */
async function render(chat: ChatClient, body: object): Promise<string> {
  return (await chat.reply({ return_prompt_text: true, max_completion_tokens: 1, ...body })).prompt_text
}

/** The template of the tiny model has no such variable, so that the prompt stays the same. */
const changesNothing = async (chat: ChatClient, body: object) =>
  expect(await render(chat, body)).toBe(await render(chat, {}))

async function countCached(chat: ChatClient, salt: string, prompt: string): Promise<number> {
  const { usage } = await chat.reply({ cache_salt: salt, messages: [{ role: 'user', content: prompt }] })
  return usage.prompt_tokens_details?.cached_tokens ?? 0
}

/** Members that decide what the model reads. */
export const promptRows = {
  messages: async (chat) => {
    const call = { id: 'c', type: 'function', function: { name: 'look', arguments: '{"at": "sea"}' } }
    const messages = [
      { role: 'developer', content: 'Be brief.' },
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: [{ type: 'text', text: 'Look.' }], name: 'ann' },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c', content: 'blue' },
      { role: 'function', name: 'look', content: 'green' },
      { role: 'narrator', content: 'Time passes.' },
    ]
    const prompt = await render(chat, { messages })
    const positions = ['Be brief.', 'Be kind.', 'Look.', '"at": "sea"', 'blue', 'green', 'Time passes.'].map((text) =>
      prompt.indexOf(text),
    )
    expect(positions).toEqual(positions.toSorted((one, other) => one - other))
    expect(positions[0]).toBeGreaterThan(0)
    await rejects({ messages: [] }, 'messages', 'at least 1 item')(chat)
  },
  model: async (chat) => {
    expect((await chat.reply({ model: chat.model })).model).toBe(chat.model)
    expect(await chat.reject({ model: 'no/such/model' })).toMatchObject({
      status: 404,
      error: { code: 'model_not_found' },
    })
  },
  echo: async (chat) => {
    const added = await chat.text(continued)
    expect(await chat.text({ ...continued, echo: true })).toBe(`The sea is${added}`)
  },
  add_generation_prompt: async (chat) => {
    expect(await render(chat, {})).toMatch(/<\|im_start\|>assistant\n$/)
    expect(await render(chat, { add_generation_prompt: false })).toMatch(/sea\.<\|im_end\|>\n$/)
  },
  continue_final_message: async (chat) => {
    expect(await render(chat, continued)).toMatch(/The sea is$/)
    const both = await chat.reject({ ...continued, add_generation_prompt: true })
    expect(both).toMatchObject({
      status: 422,
      error: { message: expect.stringContaining('Cannot set both') as unknown },
    })
  },
  add_special_tokens: async (chat) => {
    const { usage } = await chat.reply({ add_special_tokens: true })
    // The tokenizer of the tiny model adds none.
    expect(usage.prompt_tokens).toBe((await chat.reply({})).usage.prompt_tokens)
  },
  documents: async (chat) => {
    await changesNothing(chat, { documents: [{ title: 'Sea', text: 'It is blue.' }] })
    await rejects({ documents: 'It is blue.' }, 'documents', 'valid list')(chat)
  },
  chat_template: rejects({ chat_template: '{{ messages }}' }, 'chat_template', 'it would run your code'),
  chat_template_kwargs: async (chat) => {
    await changesNothing(chat, { chat_template_kwargs: { enable_thinking: false } })
    const given = { chat_template_kwargs: { tools: [{}] } }
    await rejects(given, 'chat_template_kwargs.tools', 'use the fields messages and tools')(chat)
  },
  mm_processor_kwargs: rejects(
    { mm_processor_kwargs: { num_crops: 4 } },
    'mm_processor_kwargs',
    'it changes how the engine reads media',
  ),
  truncate_prompt_tokens: async (chat) => {
    const { usage, prompt_token_ids: ids } = await chat.reply({ truncate_prompt_tokens: 5, return_token_ids: true })
    expect([usage.prompt_tokens, ids!.length]).toEqual([5, 5])
    expect((await chat.reply({ truncate_prompt_tokens: -1 })).usage.prompt_tokens).toBeGreaterThan(5)
    await rejects({ truncate_prompt_tokens: -2 }, 'truncate_prompt_tokens', 'greater than or equal to -1')(chat)
  },
  reasoning_effort: async (chat) => {
    for (const effort of ['low', 'medium', 'high']) await changesNothing(chat, { reasoning_effort: effort })
    await rejects({ reasoning_effort: 'huge' }, 'reasoning_effort', "'low', 'medium', 'high'")(chat)
  },
  // The reasoning could be read from its tokens, so that these are left out too.
  include_reasoning: async (chat) => {
    const hidden = await chat.choose({ include_reasoning: false, logprobs: true })
    expect([hidden.logprobs, hidden.token_ids]).toEqual([null, null])
    expect(hidden.message.content).toBe(await chat.text({}))
  },
  // The usage has the number of cached prompt tokens. Each salt has its own cache.
  cache_salt: async (chat) => {
    const [salt, prompt] = [randomUUID(), `${randomUUID()} ${'sea '.repeat(300)}`]
    expect(await countCached(chat, salt, prompt)).toBe(0)
    expect(await countCached(chat, salt, prompt)).toBeGreaterThan(100)
    expect(await countCached(chat, randomUUID(), prompt)).toBe(0)
  },
} satisfies Record<string, Row>
