/** One kind of chat that all contestants pass on. */
export interface Workload {
  name: WorkloadName
  requestBytes: number
  /** Each token of a reply has its log-probability, which takes about 250 bytes. */
  tokens: number
  /** The pause between two events in milliseconds. Undefined for a complete reply. */
  eventEveryMs?: number
}

export const workloadNames = ['4kb', '64kb_reply', '64kb_request', 'stream'] as const
export type WorkloadName = (typeof workloadNames)[number]

export const workloads: Record<WorkloadName, Workload> = {
  '4kb': { name: '4kb', requestBytes: 4096, tokens: 34 },
  '64kb_reply': { name: '64kb_reply', requestBytes: 4096, tokens: 620 },
  '64kb_request': { name: '64kb_request', requestBytes: 65_536, tokens: 34 },
  // The same pause as on an engine that samples quickly, so that each event is sent alone.
  stream: { name: 'stream', requestBytes: 4096, tokens: 64, eventEveryMs: 4 },
}

/** Streams that stay open, with few events. */
export const slowStream: Workload = { name: 'stream', requestBytes: 1024, tokens: 64, eventEveryMs: 2_000 }

const textPiece = 'What did the "red" fox do on the way home?\nIt ate 3 apples \u2014 and slept. '
const messageCharacters = 920

/**
 * The body of a chat with about the workload's size. The mock engine reads its reply's form from it: `max_tokens` is
 * the number of tokens, and `seed` is the pause between two events. All contestants pass these members on.
 */
export function buildChat(model: string, { requestBytes, tokens, eventEveryMs }: Workload): Buffer {
  const message = textPiece.repeat(Math.ceil(messageCharacters / textPiece.length)).slice(0, messageCharacters)
  const count = Math.max(1, Math.round(requestBytes / Buffer.byteLength(JSON.stringify(message))))
  const messages = Array.from({ length: count }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: message,
  }))
  const stream = eventEveryMs && { seed: eventEveryMs, stream: true, stream_options: { include_usage: true } }
  return Buffer.from(JSON.stringify({ model, messages, max_tokens: tokens, temperature: 1, logprobs: true, ...stream }))
}
