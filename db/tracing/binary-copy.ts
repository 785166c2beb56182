import type { SqlType } from '../columns.ts'

// The format of Postgres' binary COPY: a header, then rows. A row is its number of fields and the fields. Each field
// has its size before it.
// https://www.postgresql.org/docs/current/sql-copy.html
const header = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1')
const trailer = Buffer.from([0xff, 0xff])

const firstBytes = 64 * 1024
// Microseconds from 1970 to 2000. Postgres counts from 2000.
const epochMicros = 946_684_800_000_000
const textOid = 25

type BinaryValue = string | number | boolean | Uint8Array | string[] | object | null | undefined

/**
 * Writes rows for a binary COPY. Write the fields in the order of the columns, each by its column's type. null fits any
 * column.
 */
export class BinaryRows {
  #buffer = Buffer.allocUnsafe(firstBytes)
  #size = header.copy(this.#buffer)
  #day = { text: 'none', micros: 0 }

  /** Starts a row with this number of fields. */
  row(fields: number): void {
    this.#reserve(2)
    this.#size = this.#buffer.writeInt16BE(fields, this.#size)
  }

  /** Writes a field by its column's type. JSON can be given as bytes. */
  value(type: SqlType, value: BinaryValue): void {
    if (value === null || value === undefined) this.null()
    else if (typeof value === 'string') this.#string(type, value)
    else if (typeof value === 'number') this.#number(type, value)
    else if (typeof value === 'boolean') this.boolean(value)
    else if (value instanceof Uint8Array) this.bytes(value)
    else if (Array.isArray(value)) this.texts(value)
    else this.jsonb(value)
  }

  null(): void {
    this.#reserve(4)
    this.#word(-1)
  }

  smallint(value: number): void {
    this.#field(2)
    this.#size = this.#buffer.writeInt16BE(value, this.#size)
  }

  int(value: number): void {
    this.#field(4)
    this.#word(value)
  }

  bigint(value: number): void {
    this.#int64(value)
  }

  boolean(value: boolean): void {
    this.#field(1)
    this.#size = this.#buffer.writeUInt8(value ? 1 : 0, this.#size)
  }

  /** Writes a time, given as ISO text in UTC with microseconds. */
  instant(value: string): void {
    const day = this.#dayMicros(value)
    const micros = microsOfDay(value)
    if (Number.isSafeInteger(day)) this.#int64(day + micros)
    else this.#bigInt64(BigInt(day) + BigInt(micros))
  }

  text(value: string): void {
    // The most bytes that a character takes.
    this.#reserve(4 + value.length * 3)
    const size = this.#buffer.write(value, this.#size + 4)
    this.#word(size)
    this.#size += size
  }

  /** Writes a text or a JSON text, given as bytes. */
  bytes(value: Uint8Array): void {
    this.#field(value.length)
    this.#buffer.set(value, this.#size)
    this.#size += value.length
  }

  jsonb(value: object): void {
    // The first byte is the version of the format.
    this.text(`\u0001${JSON.stringify(value)}`)
  }

  texts(values: string[]): void {
    const parts = values.map((value) => Buffer.from(value))
    const size = parts.reduce((sum, part) => sum + 4 + part.length, 20)
    this.#field(size)
    // One dimension, no nulls, first index 1.
    for (const word of [1, 0, textOid, parts.length, 1]) this.#word(word)
    for (const part of parts) this.bytes(part)
  }

  /** Returns all bytes, with the trailer. */
  finish(): Buffer {
    this.#reserve(trailer.length)
    this.#size += trailer.copy(this.#buffer, this.#size)
    return this.#buffer.subarray(0, this.#size)
  }

  #string(type: SqlType, value: string): void {
    if (type === 'timestamptz') this.instant(value)
    else this.text(value)
  }

  #number(type: SqlType, value: number): void {
    if (type === 'smallint') this.smallint(value)
    else if (type === 'integer') this.int(value)
    else this.bigint(value)
  }

  /**
   * The start of a time's day. Rows that are written together are mostly of the same day. The result is a multiple of
   * 2^13, so it is exact in any year.
   */
  #dayMicros(value: string): number {
    if (!value.startsWith(this.#day.text)) {
      const text = value.slice(0, 11)
      this.#day = { text, micros: Date.parse(`${text}00:00:00Z`) * 1_000 - epochMicros }
    }
    return this.#day.micros
  }

  #int64(value: number): void {
    this.#field(8)
    const high = Math.floor(value / 2 ** 32)
    this.#word(high)
    this.#word(value - high * 2 ** 32)
  }

  #bigInt64(value: bigint): void {
    this.#field(8)
    this.#size = this.#buffer.writeBigInt64BE(value, this.#size)
  }

  /** Writes 32 bits, signed or unsigned. */
  #word(value: number): void {
    const buffer = this.#buffer
    const at = this.#size
    buffer[at] = value >>> 24
    buffer[at + 1] = value >>> 16
    buffer[at + 2] = value >>> 8
    buffer[at + 3] = value
    this.#size = at + 4
  }

  #field(size: number): void {
    this.#reserve(4 + size)
    this.#word(size)
  }

  #reserve(size: number): void {
    if (this.#size + size <= this.#buffer.length) return
    const larger = Buffer.allocUnsafe(Math.max(2 * this.#buffer.length, this.#size + size))
    this.#buffer.copy(larger, 0, 0, this.#size)
    this.#buffer = larger
  }
}

// Parses YYYY-MM-DDTHH:MM:SS.UUUUUUZ.
function microsOfDay(time: string): number {
  const seconds = digits(time, 11, 2) * 3_600 + digits(time, 14, 2) * 60 + digits(time, 17, 2)
  return seconds * 1_000_000 + digits(time, 20, 6)
}

function digits(text: string, start: number, count: number): number {
  let value = 0
  for (let at = start; at < start + count; at++) value = value * 10 + text.charCodeAt(at) - 48
  return value
}
