import { EventLoopYielder } from '../../../lib/event-loop.ts'
import { unprocessable, valueError } from '../../../lib/http/http-error.ts'
import { isObject } from '../../../lib/json/is-object.ts'
import { estimateValueBytes, outlineJson } from '../../../lib/json/outline.ts'
import type { Reserve } from '../../../lib/json/read-json.ts'
import type { KeySet } from '../../../db/runs/key-sets.ts'
import type { LineBlock, NewLine, RunStream, RunWrite } from '../../../db/runs/write-lines.ts'
import { cleanJsonText, isDocument, readJsonObject } from '../json-text.ts'
import { readHistoryLine } from './read-line.ts'

const streams: Readonly<Record<string, RunStream>> = {
  'wandb-history.jsonl': 'history',
  'wandb-events.jsonl': 'events',
  'output.log': 'output',
}
const summaryFile = 'wandb-summary.json'
const maxLine = 2 ** 31 - 1

// Measured: a key with its type, and with its index in an object. Lines of a run mostly have the same keys.
const bytesPerKey = 150
// The values of a shorter line are few.
const largeLine = 256 * 1024

/**
 * Reads what a client sends about a run. Members and files that are unknown are ignored. Calls `reserve` with the bytes
 * of what it keeps beside the texts.
 *
 * @throws {HttpError} 422, and what `reserve` throws
 */
export async function readFileStream(body: unknown, reserve: Reserve): Promise<RunWrite> {
  if (!isObject(body)) throw invalid([], 'must be an object')
  const files = body['files'] ?? {}
  if (!isObject(files)) throw invalid(['files'], 'must be an object')
  const blocks: LineBlock[] = []
  const read = createLineReader(reserve)
  for (const [name, stream] of Object.entries(streams)) {
    const chunk = Object.hasOwn(files, name) ? readChunk(files[name], name) : undefined
    if (chunk) blocks.push({ stream, offset: chunk.offset, lines: await readLines(stream, chunk, read) })
  }
  const { exitcode } = body
  return {
    blocks,
    summary: readSummary(files),
    exit:
      body['complete'] === true ? { code: Number.isInteger(exitcode) ? clampCode(exitcode as number) : 0 } : undefined,
    preempting: body['preempting'] === true,
  }
}

interface Chunk {
  offset: number
  content: string[]
}

function readChunk(chunk: unknown, name: string): Chunk {
  if (!isObject(chunk)) throw invalid(['files', name], 'must be an object')
  const { offset = 0, content = [] } = chunk
  const lines = typeof content === 'string' ? [content] : content
  if (!Array.isArray(lines) || !lines.every((line) => typeof line === 'string'))
    throw invalid(['files', name, 'content'], 'must be a list of strings')
  if (!Number.isSafeInteger(offset) || (offset as number) < 0 || (offset as number) + lines.length > maxLine)
    throw invalid(['files', name, 'offset'], `must be the number of a line, below ${maxLine}`)
  return { offset: offset as number, content: lines }
}

type ReadLine = (stream: RunStream, text: string, line: number) => NewLine

async function readLines(stream: RunStream, { offset, content }: Chunk, read: ReadLine): Promise<NewLine[]> {
  const yielder = new EventLoopYielder()
  const lines: NewLine[] = []
  for (const [index, text] of content.entries()) {
    if (yielder.isDue()) await yielder.yield()
    lines.push(read(stream, text, offset + index))
  }
  return lines
}

/** Lines with the same keys share one set of them. */
function createLineReader(reserve: Reserve): ReadLine {
  const sets = new Map<string, KeySet>()
  const share = (set: KeySet): KeySet => {
    const known = sets.get(set.digest)
    if (known) return known
    reserve(Object.keys(set.keys).length * bytesPerKey)
    sets.set(set.digest, set)
    return set
  }
  return (stream, text, line) => {
    if (text.length > largeLine) reserve(estimateValueBytes(text.length, outlineJson(Buffer.from(text))))
    if (stream !== 'history') return { text: readOtherLine(stream, text) }
    const { keySet, ...rest } = readHistoryLine(text, line)
    return { ...rest, ...(keySet && { keySet: share(keySet) }) }
  }
}

function readOtherLine(stream: RunStream, text: string): string {
  if (stream === 'output') return text.toWellFormed().replaceAll('\0', '\u{fffd}')
  const clean = cleanJsonText(text)
  return readJsonObject(clean) ? clean : '{}'
}

/** The summary is sent as a whole. */
function readSummary(files: Record<string, unknown>): string | undefined {
  if (!Object.hasOwn(files, summaryFile)) return undefined
  const text = readChunk(files[summaryFile], summaryFile).content.at(-1)
  const clean = text === undefined ? undefined : cleanJsonText(text)
  return clean !== undefined && isDocument(clean) ? clean : undefined
}

function clampCode(code: number): number {
  return Math.max(-maxLine, Math.min(maxLine, code))
}

function invalid(path: string[], reason: string) {
  return unprocessable(valueError(['body', ...path], reason))
}
