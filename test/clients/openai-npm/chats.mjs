/**
 * Chats with the openai SDKs that are named as arguments, of any generation: plain, streamed, with tools, and their classes
 * of errors. Reads OPENAI_BASE_URL, OPENAI_API_KEY and MODEL. Prints what each SDK saw, as one JSON object.
 */
const ask = {
  model: process.env.MODEL,
  messages: [{ role: 'user', content: 'Use get_weather for garden.' }],
  temperature: 0,
  max_tokens: 64,
}
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const withTool = {
  tools: [{ type: 'function', function: { name: 'get_weather', parameters } }],
  tool_choice: { type: 'function', function: { name: 'get_weather' } },
}

/** What a stream says: its content, the arguments of its call, and the reason of its end. */
async function joinStream(client, more) {
  let content = ''
  let given = ''
  let reason = null
  for await (const chunk of await client.chat.completions.create({ ...ask, ...more, stream: true }))
    for (const choice of chunk.choices) {
      content += choice.delta.content ?? ''
      for (const call of choice.delta.tool_calls ?? []) given += call.function.arguments ?? ''
      reason = choice.finish_reason ?? reason
    }
  return [content, given, reason]
}

async function nameError(client, changes) {
  try {
    await client.chat.completions.create({ ...ask, ...changes })
    return null
  } catch (error) {
    return [error.constructor.name, error.status, error.code]
  }
}

async function chat(name) {
  const { default: OpenAI } = await import(name)
  const client = new OpenAI({ maxRetries: 0 })
  const [plain] = (await client.chat.completions.create(ask)).choices
  const [called] = (await client.chat.completions.create({ ...ask, ...withTool })).choices
  const listed = []
  for await (const model of client.models.list()) listed.push(model.id)
  const { name: tool, arguments: given } = called.message.tool_calls[0].function
  return {
    plain: [plain.message.content, plain.finish_reason],
    stream: await joinStream(client, {}),
    call: [tool, given],
    stream_of_call: await joinStream(client, withTool),
    listed: listed.includes(ask.model.replace('wandb-artifact:///', '')),
    errors: [
      await nameError(new OpenAI({ apiKey: 'ty_nobody', maxRetries: 0 }), {}),
      await nameError(client, { model: 'no/such/model' }),
      await nameError(client, { messages: 'hello' }),
      await nameError(client, { messages: [{ role: 'user', content: 'word '.repeat(9000) }] }),
    ],
  }
}

const seen = {}
for (const name of process.argv.slice(2)) seen[name] = await chat(name)
console.log(JSON.stringify(seen))
