import { HttpError } from '../../../lib/http/http-error.ts'
import { toHttpError } from '../../errors/answer-errors.ts'
import { ExcessMemory } from '../../accounts/limits/excess-memory.ts'
import type { Logger } from '../../../lib/log.ts'
import { writeJsonText } from '../../../lib/json/json-text.ts'
import { clientLeft, type AskEngine, type Completion } from './chat.ts'
import { readReply } from './events.ts'
import { ChunkMerger } from './merge-chunks.ts'

// The text of a usual reply is no reason to break it off, whatever others have in memory.
const freeReplyBytes = 64 * 1024

/**
 * The lines of a streamed completion: the call's id when it is tracked, the chunks of the reply as they come, and what went
 * wrong. The call is there before the first chunk, and has ended before the stream has.
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
  // A client that leaves ends a generator where it stands.
  let exception: string | undefined = clientLeft
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
