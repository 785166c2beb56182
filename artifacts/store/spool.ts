import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { ArtifactStore } from './store.ts'

/** Bytes in a local file, which the store can adopt. */
export interface Spooled {
  file: string
  /** sha256 in hex */
  digest: string
  size: number
  /** The error that ended the source early. The file has the bytes before it. */
  broken: Error | undefined
}

/** The source has more bytes than allowed. */
export class SourceTooLarge extends Error {
  override name = 'SourceTooLarge'
}

/**
 * Writes a source into a local file and digests it, in bounded memory. A source that is too large is not destroyed,
 * because its caller may still want to answer.
 *
 * @param count gets the number of bytes as they arrive, and the bytes; an error that it throws ends the spooling
 * @throws {SourceTooLarge} and removes the file; every other error of the source is in the result
 */
export async function spoolSource(
  store: Pick<ArtifactStore, 'spoolPath'>,
  source: AsyncIterable<Uint8Array>,
  { maxBytes, count }: { maxBytes: number; count?: ((bytes: number, chunk: Uint8Array) => void) | undefined },
): Promise<Spooled> {
  const file = await store.spoolPath()
  const hash = createHash('sha256')
  const target = createWriteStream(file, { flags: 'wx' })
  const written = finished(target)
  written.catch(() => {}) // awaited below, or no longer of interest
  let size = 0
  try {
    let broken: Error | undefined
    for await (const chunk of endAtBreak(source, (error) => (broken = error))) {
      size += chunk.length
      if (size > maxBytes) throw new SourceTooLarge(`more than ${maxBytes} bytes`)
      count?.(chunk.length, chunk)
      hash.update(chunk)
      if (!target.write(chunk)) await Promise.race([once(target, 'drain'), written])
    }
    target.end()
    await written
    return { file, digest: hash.digest('hex'), size, broken }
  } catch (error) {
    target.destroy()
    // A file that is still being opened appears only after this.
    await written.catch(() => {})
    await rm(file, { force: true })
    throw error
  }
}

/** Ends at the source's error. */
async function* endAtBreak(
  source: AsyncIterable<Uint8Array>,
  record: (error: Error) => void,
): AsyncGenerator<Uint8Array> {
  try {
    yield* source instanceof Readable ? source.iterator({ destroyOnReturn: false }) : source
  } catch (error) {
    record(error as Error)
  }
}
