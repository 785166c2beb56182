import type { Conversation } from '../../support/taught-model.ts'

// Descriptions and schemas differ between frameworks, so they differ here too.
const descriptions = [
  '',
  'Tells the weather of a city.',
  'A city.',
  'IMPORTANT: This tool should only be invoked as the last and final tool. <description>A city.</description>',
]
// pydantic-ai and Instructor's partial answers use other names for the output tool.
const outputs = ['City', 'final_result', 'PartialCity', 'City']
const extras = [{}, { additionalProperties: false }, { title: 'City' }, { title: 'City', description: 'A city.' }]

const describe = (name: string, properties: object, index: number) => ({
  type: 'function',
  function: {
    name,
    description: descriptions[index],
    parameters: { type: 'object', properties, required: Object.keys(properties), ...extras[index] },
  },
})

const text = { type: 'string' }
const call = (name: string, given: object) => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'call-1', type: 'function', function: { name, arguments: JSON.stringify(given) } }],
})

const describeWeather = (index: number) => {
  const city = index === 1 ? { description: 'The city.', ...text } : text
  return [describe('get_weather', { city }, index)]
}
const loop = [
  { role: 'user', content: 'Use get_weather for garden.' },
  call('get_weather', { city: 'garden' }),
  { role: 'tool', tool_call_id: 'call-1', content: 'It is sunny.' },
  { role: 'assistant', content: 'It is sunny.' },
]

/** The tool loop, and the same question once more. */
export function loopsInTwoTurns(): Conversation[] {
  const system = { role: 'system', content: 'You are helpful.' }
  return descriptions.map((_, index) => ({
    messages: [system, ...loop, ...loop],
    tools: describeWeather(index),
  }))
}

/** The questions of the agents in this folder, and the answers that end their loops. */
export function agentConversations(): Conversation[] {
  return descriptions.flatMap((_, index) => {
    const weather = describeWeather(index)
    const rome = { name: 'Rome', coastal: false }
    const ask = { role: 'user', content: 'Name a city.' }
    return [
      { messages: loop, tools: weather },
      { messages: loop.slice(0, 2), tools: weather },
      ...['City', outputs[index]!].map((name) => ({
        messages: [ask, call(name, rome)],
        tools: [describe(name, { name: text, coastal: { type: 'boolean' } }, index)],
      })),
      { messages: [ask, { role: 'assistant', content: JSON.stringify(rome) }] },
    ]
  })
}
