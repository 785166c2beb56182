import type { ChatReply } from '../../inference/chat.ts'

const dataPrefix = 'data:'

/**
 * The JSON texts of a reply: one for each event of a stream (events arrive as whole lines), or one for the whole reply.
 */
export async function* readReply(reply: ChatReply): AsyncGenerator<string> {
  if (reply.kind === 'complete') {
    yield Buffer.from(reply.bytes).toString()
    return
  }
  for await (const lines of reply.events) {
    for (const line of lines.toString().split(/\r?\n/)) {
      const data = line.startsWith(dataPrefix) ? line.slice(dataPrefix.length).trim() : ''
      if (data !== '' && data !== '[DONE]') yield data
    }
  }
}
