import { HttpError } from '../../../lib/http/http-error.ts'
import { toHttpError } from '../../errors/answer-errors.ts'
import { ExcessMemory } from '../../accounts/limits/excess-memory.ts'
import type { Logger } from '../../../lib/log.ts'
import { writeJsonText } from '../../../lib/json/json-text.ts'
import { clientDisconnected, type AskEngine, type Completion } from './chat.ts'
import { readReply } from '../../inference/reply/reply-texts.ts'
import { ChunkMerger } from './merge-chunks.ts'

// A reply of this size is never cut off for lack of memory: typical replies are smaller.
const freeReplyBytes = 64 * 1024

/**
 * The lines of a streamed completion: the call's id if it is traced, the chunks of the reply as they arrive, and an
 * error. The call is stored before the first chunk is sent, and its end is stored before the stream ends.
 */
export async function* streamCompletion(
  log: Logger,
  completion: Completion,
  ask: AskEngine | HttpError,
): AsyncGenerator<string> {
  const { tracked, client, memory } = completion
  if (ask instanceof HttpError) {
    yield writeLine({ error: `Failed to resolve and apply prompt: ${ask.message}` })
    return
  }
  await tracked?.begin()
  const merger = new ChunkMerger()
  const held = new ExcessMemory(memory, freeReplyBytes)
  // When the client disconnects, the generator ends at its current `yield`.
  let exception: string | undefined = clientDisconnected
  try {
    if (tracked) yield writeLine({ _meta: { weave_call_id: tracked.id } })
    for await (const data of readReply(await ask())) {
      merger.add(JSON.parse(data))
      held.resize(merger.size)
      yield `${data}\n`
    }
    exception = merger.error
  } catch (error) {
    if (client.hasLeft) return
    exception = toHttpError(error, log).message
    yield writeLine({ error: exception })
  } finally {
    const output = merger.merge()
    await tracked?.end({ output: output ? writeJsonText(output) : null, usage: merger.usage, exception })
  }
}

function writeLine(value: unknown): string {
  return `${JSON.stringify(value)}\n`
}
