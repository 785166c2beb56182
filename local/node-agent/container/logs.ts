import { copyFile, open, stat, truncate } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

// This is half of a kubelet's default: one older file is kept beside the current one.
const rotateAtBytes = 10 * 1024 * 1024
const chunkBytes = 64 * 1024
const followEveryMs = 250

export interface LogOptions {
  follow: boolean
  /** Lines from the end. All lines when absent. */
  tailLines?: number
  limitBytes?: number
}

/**
 * Limits the size of a run's log. The log is copied and truncated, because the process keeps the file open (in append
 * mode) while agents come and go. A line that is written between the two steps is lost.
 */
export async function rotateLog(run: string): Promise<void> {
  const file = path.join(run, 'log')
  const size = await fileSize(file)
  if (size < rotateAtBytes) return
  await copyFile(file, `${file}.1`)
  await truncate(file)
}

/** The last lines of a run's log. */
export async function readTail(run: string, lines: number): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of readLog(run, { follow: false, tailLines: lines }, () => false)) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

/**
 * Reads a run's log from the oldest kept line, or only its last lines. With `follow`, it continues as long as
 * `isRunning` returns true.
 */
export async function* readLog(run: string, options: LogOptions, isRunning: () => boolean): AsyncGenerator<Buffer> {
  let left = options.limitBytes ?? Infinity
  for await (const chunk of readAll(run, options, isRunning)) {
    yield chunk.subarray(0, Math.min(left, chunk.length))
    left -= chunk.length
    if (left <= 0) return
  }
}

async function* readAll(run: string, options: LogOptions, isRunning: () => boolean): AsyncGenerator<Buffer> {
  const [older, current] = [path.join(run, 'log.1'), path.join(run, 'log')]
  const currentSize = await fileSize(current)
  const olderSize = await fileSize(older)
  const wanted = options.tailLines ?? Infinity
  const currentTail = await findTail(current, currentSize, wanted)
  if (currentTail.missingLines > 0) {
    const olderTail = await findTail(older, olderSize, currentTail.missingLines)
    yield* readRange(older, olderTail.offset, olderSize)
  }
  yield* readRange(current, currentTail.offset, currentSize)
  if (options.follow) yield* followFile(current, currentSize, isRunning)
}

async function* followFile(file: string, from: number, isRunning: () => boolean): AsyncGenerator<Buffer> {
  let offset = from
  for (;;) {
    // `isRunning` is called before the read, so that the last output is still read after the run has ended.
    const goesOn = isRunning()
    const size = await fileSize(file)
    if (size < offset) offset = 0
    yield* readRange(file, offset, size)
    offset = size
    if (!goesOn) return
    await delay(followEveryMs)
  }
}

/**
 * Finds the start of the last `lines` lines, reading from the end. Also returns how many of them the file does not
 * have.
 */
async function findTail(file: string, size: number, lines: number): Promise<{ offset: number; missingLines: number }> {
  if (lines === Infinity) return { offset: 0, missingLines: Infinity }
  if (lines === 0 || size === 0) return { offset: size, missingLines: lines }
  const handle = await open(file, 'r')
  try {
    let missing = lines
    // A line break at the end of the file does not start another line.
    for (let end = size - 1; end > 0 && missing > 0; end -= chunkBytes) {
      const start = Math.max(0, end - chunkBytes)
      const { buffer } = await handle.read(Buffer.alloc(end - start), 0, end - start, start)
      const breaks = listLineBreaks(buffer)
      const found = breaks[breaks.length - missing]
      if (found !== undefined) return { offset: start + found + 1, missingLines: 0 }
      missing -= breaks.length
    }
    return { offset: 0, missingLines: missing - 1 }
  } finally {
    await handle.close()
  }
}

function listLineBreaks(buffer: Buffer): number[] {
  const found: number[] = []
  for (let index = buffer.indexOf(10); index >= 0; index = buffer.indexOf(10, index + 1)) found.push(index)
  return found
}

async function* readRange(file: string, start: number, end: number): AsyncGenerator<Buffer> {
  if (start >= end) return
  const handle = await open(file, 'r').catch(() => undefined)
  if (!handle) return
  try {
    for (let offset = start; offset < end; offset += chunkBytes) {
      const length = Math.min(chunkBytes, end - offset)
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, offset)
      if (bytesRead > 0) yield buffer.subarray(0, bytesRead)
    }
  } finally {
    await handle.close()
  }
}

async function fileSize(file: string): Promise<number> {
  return stat(file).then(
    ({ size }) => size,
    () => 0,
  )
}
