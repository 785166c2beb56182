import { BinaryReader } from '@bufbuild/protobuf/wire'
import { ValueBudget } from '../../../lib/json/value.ts'

/** A reader of protobuf's wire format, whose texts Postgres can hold: bytes that are no UTF-8, and NUL, become U+FFFD. */
export class WireReader extends BinaryReader {
  /** For the values of attributes. */
  readonly budget: ValueBudget

  constructor(bytes: Uint8Array, budget = new ValueBudget()) {
    super(bytes, decodeText)
    this.budget = budget
  }

  /** A reader of the message that comes next. */
  enter(): WireReader {
    return new WireReader(this.bytes(), this.budget)
  }
}

function decodeText(bytes: Uint8Array): string {
  return cleanText(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'))
}

/** A text with U+FFFD in place of NUL. */
export function cleanText(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text
}
