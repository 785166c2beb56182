import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { splitBytes } from '../../lib/split-bytes.ts'
import { tapStream } from '../../lib/tap.ts'

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
  const count = (chunk: Uint8Array) => {
    hash.update(chunk)
    observe(chunk)
    size += chunk.byteLength
  }
  return {
    stream: tapStream(toStream(source), { observe: count }),
    finish: () => ({ digest: hash.digest('hex'), size }),
  }
}

function toStream(source: AsyncIterable<Uint8Array> | Uint8Array): Readable {
  if (source instanceof Readable) return source
  return Readable.from(source instanceof Uint8Array ? splitBytes(source) : source, { objectMode: false })
}
