import { json, list, padded, post, type Attack, type Target } from './attack.ts'
import { mib, oddValues } from './bodies.ts'

/** Attacks on the operations that engines answer. */
export function listInferenceAttacks(target: Target): Attack[] {
  return [
    ...listChats(target),
    ...listTemplates(target),
    ...listCompletions(target),
    ...listResponses(target),
    ...listTokens(target),
  ]
}

/** Chats that take more memory than their size suggests. */
function listChats({ chatModel }: Target): Attack[] {
  const messages = [{ role: 'user', content: 'Hello.' }]
  const chat = (more: object) => json({ model: chatModel, messages, ...more })
  const harmless = (bytes: number) => padded(bytes, (content) => chat({ messages: [{ role: 'user', content }] }))
  const content = (kind: string, bytes: number) => () =>
    Buffer.from(`{"model":"none","messages":[{"role":"user","content":${oddValues[kind]!(bytes)}}]}`)
  return post('/v1/chat/completions', harmless, [
    { name: 'a chat of 5 million objects', body: content('many objects', 15 * mib) },
    { name: 'a chat of 5 million lists', body: content('many lists', 15 * mib) },
    { name: 'a chat of 7 million numbers', body: content('many numbers', 15 * mib) },
    { name: 'a chat of a million members', body: content('wide', 15 * mib) },
    { name: '400,000 messages', body: () => chat({ messages: list(400_000, () => ({ role: 'user', content: 'a' })) }) },
    {
      name: 'a reply of gigabytes',
      body: () => chat({ n: 1_024, max_tokens: 100_000, logprobs: true, top_logprobs: 20 }),
    },
    {
      name: 'an address of a picture',
      body: () =>
        chat({
          messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'http://127.0.0.1:1/' } }] }],
        }),
    },
    { name: '200,000 choices', body: () => chat({ structured_outputs: { json: { enum: list(200_000, String) } } }) },
  ])
}

/** Variables of a template whose text is far longer than they are. */
function listTemplates({ chatModel: model, project }: Target): Attack[] {
  const inputs = {
    model,
    messages: list(16, () => ({ role: 'user', content: '{a}'.repeat(400) })),
    template_vars: { a: 'a'.repeat(1_000_000) },
  }
  const filled = () => json({ project_id: project, inputs, track_llm_call: false })
  const short = (bytes: number) =>
    padded(bytes, (text) => json({ project_id: project, inputs: { model: 'none', text } }))
  return post('/traces/completions/create', short, [{ name: 'variables that fill gigabytes', body: filled }])
}

/** Prompts of very many parts. */
function listCompletions({ chatModel: model }: Target): Attack[] {
  const completion = (prompt: string, more = '') => Buffer.from(`{"model":"${model}","prompt":${prompt}${more}}`)
  const harmless = (bytes: number) => padded(bytes, (text) => completion(JSON.stringify(text)))
  const embedding = (input: string) => Buffer.from(`{"model":"${model}","input":${input}}`)
  const shortInput = (bytes: number) => padded(bytes, (text) => embedding(JSON.stringify(text)))
  return [
    ...post('/v1/completions', harmless, [
      { name: 'a prompt of 7 million ids', body: () => completion(oddValues['many numbers']!(15 * mib)) },
      { name: '5 million prompts', body: () => completion(oddValues['many lists']!(15 * mib)) },
      {
        name: 'completions of gigabytes',
        body: () => completion('"a"', ',"n":1024,"max_tokens":100000,"logprobs":20,"echo":true'),
      },
    ]),
    ...post('/v1/embeddings', shortInput, [
      { name: 'embeddings of 5 million lists', body: () => embedding(oddValues['many lists']!(15 * mib)) },
    ]),
  ]
}

/** Responses whose chats, or whose rows, are far larger than they are. */
function listResponses({ chatModel: model }: Target): Attack[] {
  const response = (members: object) => json({ model, input: 'Hello.', ...members })
  const harmless = (bytes: number) => padded(bytes, (input) => response({ input }))
  const item = { type: 'function_call', call_id: 'a', name: 'a', arguments: '{' }
  return post('/v1/responses', harmless, [
    { name: '200,000 items', body: () => response({ input: list(200_000, () => item) }) },
    {
      name: 'items of 5 million objects',
      body: () => Buffer.from(`{"model":"${model}","input":${oddValues['many objects']!(15 * mib)}}`),
    },
    {
      name: '100,000 tools',
      body: () => response({ tools: list(100_000, (at) => ({ type: 'function', name: `f${at}`, parameters: {} })) }),
    },
    { name: 'instructions of 15 MiB', body: () => response({ instructions: 'a '.repeat(7 * mib) }) },
  ]).map((attack): Attack => ({ ...attack, role: 'member' }))
}

/** Texts and ids that tokenizers are slow with. */
function listTokens({ chatModel: model }: Target): Attack[] {
  const tokens = (name: string, value: string) => Buffer.from(`{"model":"${model}","${name}":${value}}`)
  const harmless = (name: string) => (bytes: number) => padded(bytes, (text) => tokens(name, JSON.stringify(text)))
  return [
    ...post('/tokenize', harmless('prompt'), [
      { name: 'a text of 15 MiB', body: () => tokens('prompt', oddValues['words']!(15 * mib)) },
    ]),
    ...post('/detokenize', harmless('tokens'), [
      { name: '7 million ids', body: () => tokens('tokens', oddValues['many numbers']!(15 * mib)) },
    ]),
  ]
}
