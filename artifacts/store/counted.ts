import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { splitBytes } from '../../lib/split-bytes.ts'

/** A source that counts and digests its bytes while they are read. */
export interface Counted {
  stream: Readable
  /** of what was read so far; sha256 in hex */
  finish: () => { digest: string; size: number }
}

/** Digests a source while it is read, so that it is read only once. `observe` gets the bytes too. */
export function countBytes(
  source: AsyncIterable<Uint8Array> | Uint8Array,
  observe: (chunk: Uint8Array) => void = () => {},
): Counted {
  const hash = createHash('sha256')
  let size = 0
  async function* count() {
    for await (const chunk of source instanceof Uint8Array ? splitBytes(source) : source) {
      hash.update(chunk)
      observe(chunk)
      size += chunk.byteLength
      yield chunk
    }
  }
  return { stream: Readable.from(count(), { objectMode: false }), finish: () => ({ digest: hash.digest('hex'), size }) }
}
