import { expect } from 'vitest'
import { rejects, type ChatClient, type Row, type ToolCall } from './ask.ts'

const schema = {
  type: 'object',
  properties: { colour: { enum: ['red'] } },
  required: ['colour'],
  additionalProperties: false,
}
const red = { colour: 'red' }
// The grammar of a JSON object allows any number of spaces.
const room = { max_completion_tokens: 80, temperature: 0 }

const tool = (name: string) => ({ type: 'function', function: { name, parameters: schema, strict: true } })
const tools = [tool('paint'), tool('draw')]

const answerIn = async (chat: ChatClient, body: object) =>
  JSON.parse((await chat.text({ ...room, ...body }))!) as unknown

/** Returns the tool calls of a stream and of a complete reply. */
async function listCalls(chat: ChatClient, body: object): Promise<ToolCall[]> {
  const { message, finish_reason: reason } = await chat.choose({ ...room, tools, ...body })
  expect(reason).toMatch(/^(tool_calls|stop)$/)
  return message.tool_calls ?? []
}

/** Members that constrain the form of a reply. */
export const constraintRows = {
  response_format: async (chat) => {
    const format = {
      type: 'json_schema',
      json_schema: { name: 'paint', description: 'A colour.', schema, strict: true },
    }
    expect(await answerIn(chat, { response_format: format })).toEqual(red)
    expect(await chat.text({ response_format: { type: 'text' } })).toBe(await chat.text({}))
    expect(await chat.text({ response_format: { type: 'json_object' } })).toMatch(/^\s*\{/)
    await rejects({ response_format: { type: 'xml' } }, 'response_format.type', "'json_schema'")(chat)
  },
  structured_outputs: async (chat) => {
    const constrain = (constraint: object) => chat.text({ ...room, structured_outputs: constraint })
    expect(JSON.parse((await constrain({ json: schema }))!)).toEqual(red)
    expect(JSON.parse((await constrain({ json: JSON.stringify(schema) }))!)).toEqual(red)
    expect(await constrain({ regex: '[0-9]{3}-[0-9]{2}' })).toMatch(/^\d{3}-\d{2}$/)
    expect(['green', 'blue']).toContain(await constrain({ choice: ['green', 'blue'] }))
    expect(await constrain({ grammar: 'root ::= "yes " "indeed"' })).toBe('yes indeed')
    expect(await constrain({ json_object: true })).toMatch(/^\s*\{/)
    const tag = { type: 'structural_tag', format: { type: 'const_string', value: 'aye' } }
    expect(await constrain({ structural_tag: JSON.stringify(tag) })).toBe('aye')
    const two = await chat.reject({ structured_outputs: { regex: 'a', choice: ['a'] } })
    expect(two).toMatchObject({
      status: 422,
      error: { message: expect.stringContaining('only use one kind') as unknown },
    })
  },
  tools: async (chat) => {
    const [call] = await listCalls(chat, { tool_choice: 'required' })
    expect(['paint', 'draw']).toContain(call?.function.name)
    expect(JSON.parse(call!.function.arguments)).toEqual(red)
    await rejects({ tools: 'paint' }, 'tools', 'valid list')(chat)
  },
  tool_choice: async (chat) => {
    const [named] = await listCalls(chat, { tool_choice: { type: 'function', function: { name: 'draw' } } })
    expect(named).toMatchObject({ type: 'function', function: { name: 'draw' } })
    expect(await listCalls(chat, { tool_choice: 'none' })).toEqual([])
    // The model may or may not call a tool.
    await listCalls(chat, { tool_choice: 'auto' })
    await rejects({ tools, tool_choice: 'paint' }, 'tool_choice', 'Only named tools')(chat)
  },
  parallel_tool_calls: async (chat) => {
    expect(await listCalls(chat, { tool_choice: 'required', parallel_tool_calls: false })).toHaveLength(1)
  },
} satisfies Record<string, Row>
