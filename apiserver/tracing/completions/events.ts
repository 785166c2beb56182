import type { ChatReply } from '../../inference/chat.ts'

const dataPrefix = 'data:'

/** The JSON texts of a reply: of each event of a stream, which come as whole lines, or of all of it. */
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
