import { EventLoopYielder } from '../../lib/event-loop.ts'

// Larger writes are not faster.
const chunkLength = 64 * 1024

type Items = Iterable<string> | AsyncIterable<string>

/** Writes these values as chunks of a JSON array, with a text before and after it. */
export function writeArray(before: string, items: Items, after: string): AsyncGenerator<string> {
  return gather(separate(before, items, after))
}

/** Writes JSON values as chunks, one value in each line. */
export function writeLines(items: Items): AsyncGenerator<string> {
  return gather(endLines(items))
}

/**
 * Writes a JSON value as one line. A line break in JSON text is always between two tokens, so that a space can replace
 * it.
 */
export function writeLine(item: string): string {
  // `includes` is native code, and lines may be long.
  const hasBreak = item.includes('\n') || item.includes('\r')
  return `${hasBreak ? item.replaceAll(/[\n\r]+/g, ' ') : item}\n`
}

async function* separate(before: string, items: Items, after: string): AsyncGenerator<string> {
  yield `${before}[`
  let separator = ''
  for await (const item of items) {
    yield separator + item
    separator = ','
  }
  yield `]${after}`
}

async function* endLines(items: Items): AsyncGenerator<string> {
  for await (const item of items) yield writeLine(item)
}

async function* gather(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let text = ''
  for await (const piece of pieces) {
    text += piece
    if (text.length < chunkLength) continue
    yield text
    text = ''
  }
  if (text !== '') yield text
}

// A piece of this size is written in about a millisecond.
const pieceLength = 512 * 1024

/** Splits long chunks, so that other work of the event loop runs between the pieces. */
export async function* splitLongChunks(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  const yielder = new EventLoopYielder()
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length;) {
      const end = endOfPiece(chunk, at)
      yield chunk.slice(at, end)
      at = end
      if (yielder.isDue()) await yielder.yield()
    }
  }
}

/** Never splits a surrogate pair. */
function endOfPiece(text: string, start: number): number {
  const end = start + pieceLength
  const code = text.charCodeAt(end - 1)
  return code >= 0xd800 && code < 0xdc00 ? end + 1 : end
}
