import { BinaryReader } from '@bufbuild/protobuf/wire'
import { ValueBudget } from '../../../lib/json/value.ts'

/** Reads protobuf's wire format. Postgres can store its texts: invalid UTF-8 and NUL become U+FFFD. */
export class WireReader extends BinaryReader {
  /** Counts the values of attributes. */
  readonly budget: ValueBudget

  constructor(bytes: Uint8Array, budget = new ValueBudget()) {
    super(bytes, decodeText)
    this.budget = budget
  }

  /** Returns a reader for the nested message at the current position. */
  enter(): WireReader {
    return new WireReader(this.bytes(), this.budget)
  }
}

function decodeText(bytes: Uint8Array): string {
  return cleanText(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'))
}

/** Replaces NUL by U+FFFD. */
export function cleanText(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text
}
