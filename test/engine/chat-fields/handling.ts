import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { rejects, type Row } from './ask.ts'

/** Members that decide how a request is handled. */
export const handlingRows = {
  stream: async (chat) => {
    const chunks = await chat.stream({})
    const deltas = chunks.map(({ choices }) => choices[0]!.delta)
    expect(deltas[0]).toMatchObject({ role: 'assistant' })
    expect(deltas.map(({ content }) => content ?? '').join('')).toBe(await chat.text({}))
    expect(deltas.length).toBeGreaterThan(1)
    for (const chunk of chunks) expect(chunk.usage).toBeUndefined()
  },
  stream_options: async (chat) => {
    const counted = await chat.stream({ stream_options: { include_usage: true } })
    expect(counted.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: 6 } })
    for (const { usage } of counted.slice(0, -1)) expect(usage ?? null).toBeNull()
    const continuous = await chat.stream({ stream_options: { include_usage: true, continuous_usage_stats: true } })
    const counts = continuous.slice(0, -1).map(({ usage }) => usage.completion_tokens)
    // An event of a busy engine has several tokens.
    expect(counts.length).toBeGreaterThan(1)
    expect([counts[0], counts.at(-1)]).toEqual([0, 6])
    expect(counts).toEqual(counts.toSorted((one, other) => one - other))
    await rejects({ stream_options: { include_usage: true } }, 'stream_options', 'only be defined when')(chat)
  },
  user: async (chat) => {
    expect(await chat.text({ user: randomUUID() })).toBe(await chat.text({}))
  },
  priority: async (chat) => {
    expect(await chat.text({ priority: 0 })).toBe(await chat.text({}))
    await rejects({ priority: 1 }, 'priority', 'should be 0')(chat)
  },
  request_id: async (chat) => {
    const id = randomUUID()
    const replies = await Promise.all([chat.reply({ request_id: id }), chat.reply({ request_id: id })])
    expect(replies.map((reply) => reply.id)).toEqual([`chatcmpl-${id}`, `chatcmpl-${id}`])
  },
  logits_processors: rejects({ logits_processors: ['os.system'] }, 'logits_processors', 'it would run your code'),
  kv_transfer_params: rejects(
    { kv_transfer_params: { do_remote_decode: true } },
    'kv_transfer_params',
    "it moves the engine's own memory",
  ),
  engine_xargs: async (chat) => {
    expect(await chat.text({ engine_xargs: { ngram_size: 3, unknown: 'x' } })).toBe(await chat.text({}))
    const given = { engine_xargs: { kv_transfer_params: { a: 1 } } }
    await rejects(given, 'engine_xargs.kv_transfer_params', "it moves the engine's own memory")(chat)
  },
} satisfies Record<string, Row>
