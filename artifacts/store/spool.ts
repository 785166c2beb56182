import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { ArtifactStore } from './store.ts'

/** Bytes in a local file, to be adopted by the store. */
export interface Spooled {
  file: string
  /** sha256 in hex */
  digest: string
  size: number
  /** Why the source ended early: what is here is its beginning. */
  broken: Error | undefined
}

/** The source has more bytes than allowed. */
export class SourceTooLarge extends Error {
  override name = 'SourceTooLarge'
}

/**
 * Writes a source into a local file while digesting it, no faster than the disk takes it. A stream is not destroyed when it
 * has too many bytes, because its caller may still want to answer.
 *
 * @param count gets the number of bytes of each chunk; an error that it throws ends the spooling
 * @throws {SourceTooLarge} every other error of the source is in the result; the file is gone then
 */
export async function spoolSource(
  store: Pick<ArtifactStore, 'spoolPath'>,
  source: AsyncIterable<Uint8Array>,
  { maxBytes, count }: { maxBytes: number; count?: ((bytes: number) => void) | undefined },
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
      count?.(chunk.length)
      hash.update(chunk)
      if (!target.write(chunk)) await Promise.race([once(target, 'drain'), written])
    }
    target.end()
    await written
    return { file, digest: hash.digest('hex'), size, broken }
  } catch (error) {
    target.destroy()
    // A file that is still being opened is there only then.
    await written.catch(() => {})
    await rm(file, { force: true })
    throw error
  }
}

/** Ends where the source breaks. */
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
