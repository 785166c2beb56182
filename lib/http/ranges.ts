/** A part of a file, both ends included. */
export interface ByteRange {
  start: number
  end?: number
}

/** The part of a file that a request asks for: a range, the whole file, or a range outside of it. */
export type WantedRange = Required<ByteRange> | 'whole' | 'outside'

/**
 * Reads a Range header for a file of `size` bytes (RFC 9110). What is malformed, of another unit, or of several ranges is
 * answered with the whole file.
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
