import { addChunk, createEventReader, noAnswer, StreamError, type PartialAnswer } from '../logic/chat-stream.ts'
import { ApiError, sendTo } from './client.ts'

const forStreams = { stream: true, stream_options: { include_usage: true }, logprobs: true }

/**
 * Sends a chat and reads its answer as it arrives. Only an answer to a POST has a stream of this kind, so it is no
 * EventSource.
 *
 * @throws {ApiError} also for an error in the stream, or a stream that breaks off
 */
export async function streamChat(
  body: object,
  signal: AbortSignal,
  onAnswer: (answer: PartialAnswer) => void,
): Promise<void> {
  const response = await sendTo('POST', '/v1/chat/completions', { ...body, ...forStreams }, signal)
  const read = createEventReader()
  let answer = noAnswer
  try {
    for await (const text of decode(response)) {
      answer = read(text).reduce(addChunk, answer)
      onAnswer(answer)
    }
  } catch (error) {
    if (signal.aborted) throw error
    const sentence = error instanceof StreamError ? error.message : 'The stream broke off.'
    throw new ApiError(response.status, sentence, response.headers.get('x-request-id') ?? undefined)
  }
}

/** Not every browser iterates over a stream. */
async function* decode({ body }: Response): AsyncGenerator<string> {
  const reader = body!.getReader()
  const decoder = new TextDecoder()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    yield decoder.decode(value, { stream: true })
  }
}
