import { expect } from 'vitest'
import { eventually } from './eventually.ts'
import type { TrainingEvent } from './rest.ts'

interface Frame {
  id: string
  event: string
}

/** A stream of server-sent events as a client reads it. */
export interface EventStream {
  status: number
  headers: Headers
  frames: Frame[]
  /** The parsed data of the frames. */
  events: TrainingEvent[]
  comments: string[]
  retryMs: number | undefined
  /** Resolves when the server has ended the stream. */
  ended: Promise<void>
  waitFor: (count: number, timeoutMs?: number) => Promise<void>
  close: () => void
}

/** Opens a stream, and reads it until it ends or is closed. */
export async function openEventStream(url: string, headers: Record<string, string>): Promise<EventStream> {
  const closing = new AbortController()
  const response = await fetch(url, { headers: { accept: 'text/event-stream', ...headers }, signal: closing.signal })
  const stream: EventStream = {
    status: response.status,
    headers: response.headers,
    frames: [],
    events: [],
    comments: [],
    retryMs: undefined,
    ended: Promise.resolve(),
    waitFor: (count, timeoutMs = 5_000) =>
      eventually(() => expect(stream.events.length).toBeGreaterThanOrEqual(count), timeoutMs, 5),
    close: () => closing.abort(),
  }
  if (response.ok) stream.ended = readAll(response, stream)
  else await response.text()
  stream.ended.catch(() => {})
  return stream
}

async function readAll(response: Response, stream: EventStream): Promise<void> {
  let rest = ''
  for await (const text of response.body!.pipeThrough(new TextDecoderStream())) {
    const blocks = (rest + text).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) readBlock(block, stream)
  }
}

function readBlock(block: string, stream: EventStream): void {
  const fields = new Map<string, string>()
  for (const line of block.split('\n')) {
    const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? []
    if (name === '') stream.comments.push(value)
    else fields.set(name, value)
  }
  if (fields.has('retry')) stream.retryMs = Number(fields.get('retry'))
  const data = fields.get('data')
  if (data === undefined) return
  stream.frames.push({ id: fields.get('id') ?? '', event: fields.get('event') ?? '' })
  stream.events.push(JSON.parse(data) as TrainingEvent)
}
