import type { ChatReply } from '../chat.ts'

const dataPrefix = 'data:'

/** The JSON texts of a reply: one for each event of a stream, or the whole complete reply. */
export async function* readReply(reply: ChatReply): AsyncGenerator<string> {
  if (reply.kind === 'complete') {
    yield Buffer.from(reply.bytes).toString()
    return
  }
  for await (const line of readLines(reply.events)) {
    const data = line.startsWith(dataPrefix) ? line.slice(dataPrefix.length).trim() : ''
    if (data !== '' && data !== '[DONE]') yield data
  }
}

/** Chunks may end within a line, and within a character. */
async function* readLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  yield rest
}
