import { BinaryReader } from '@bufbuild/protobuf/wire'

/** A reader of protobuf's wire format, whose texts Postgres can hold: bytes that are no UTF-8, and NUL, become U+FFFD. */
export function openReader(bytes: Uint8Array): BinaryReader {
  return new BinaryReader(bytes, decodeText)
}

function decodeText(bytes: Uint8Array): string {
  return cleanText(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'))
}

/** A text with U+FFFD in place of NUL. */
export function cleanText(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text
}
