/** A part of a file, including both ends. */
export interface ByteRange {
  start: number
  end?: number
}

/** The requested part of a file: a range, the whole file, or a range outside of it. */
export type WantedRange = Required<ByteRange> | 'whole' | 'outside'

/**
 * Reads a Range header for a file of `size` bytes (RFC 9110). Malformed headers, other units and several ranges get the
 * whole file.
 */
export function readRange(header: string, size: number): WantedRange {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header.trim())
  const [first, last] = [match?.[1] ?? '', match?.[2] ?? '']
  if (first === '' && last === '') return 'whole'
  if (first === '') {
    const length = Math.min(Number(last), size)
    return length === 0 ? 'outside' : { start: size - length, end: size - 1 }
  }
  const start = Number(first)
  if (last !== '' && Number(last) < start) return 'whole'
  if (start >= size) return 'outside'
  return { start, end: last === '' ? size - 1 : Math.min(Number(last), size - 1) }
}
