import { WireType } from '@bufbuild/protobuf/wire'
import { TooManyValues, type Value } from '../../../lib/json/value.ts'
import { OtlpError } from './otlp-error.ts'
import { append, type FieldType, requireList } from './field-types.ts'
import type { WireReader } from './wire-text.ts'

/** A field of a message: its number in protobuf and its kind. The key of the entry is its name in JSON. */
export type Field<V> = readonly [number: number, kind: FieldType<V>]

type Fields<T> = { [K in keyof T]: Field<T[K]> }

/** A message of OTLP, declared once for protobuf and JSON. Fields that are not declared are skipped. */
export class Message<T extends object> {
  readonly #fields: [keyof T, FieldType<T[keyof T]>][]
  readonly #byNumber: ([keyof T, FieldType<T[keyof T]>] | undefined)[] = []

  constructor(fields: Fields<T>) {
    const entries = Object.entries(fields) as [keyof T, Field<T[keyof T]>][]
    this.#fields = entries.map(([key, [number, kind]]) => (this.#byNumber[number] = [key, kind]))
  }

  /** @throws {OtlpError} for an invalid message */
  readWire(reader: WireReader): T {
    const message = this.empty()
    try {
      while (reader.pos < reader.len) this.#readField(reader, message)
    } catch (cause) {
      if (cause instanceof OtlpError) throw cause
      throw new OtlpError(cause instanceof TooManyValues ? cause.message : 'not valid protobuf', { cause })
    }
    return message
  }

  /** @throws {OtlpError} for an invalid message */
  readJson(value: Value): T {
    if (!(value instanceof Map)) throw new OtlpError('a field that must be an object is not an object')
    const message = this.empty()
    for (const [key, kind] of this.#fields) {
      const member = value.get(key as string)
      if (member !== undefined && member !== null) message[key] = kind.readJson(member)
    }
    return message
  }

  empty(): T {
    const message = {} as T
    for (const [key, kind] of this.#fields) message[key] = kind.empty()
    return message
  }

  #readField(reader: WireReader, message: T): void {
    const [number, type] = reader.tag()
    const field = this.#byNumber[number]
    if (field?.[1].wireType !== type) reader.skip(type, number)
    else message[field[0]] = field[1].readWire(reader, message[field[0]])
  }
}

/** A nested message. */
export function one<T extends object>(message: Message<T>): FieldType<T> {
  return {
    wireType: WireType.LengthDelimited,
    empty: () => message.empty(),
    readWire: (reader) => message.readWire(reader.enter()),
    readJson: (value) => message.readJson(value),
  }
}

/** A list of nested messages. */
export function many<T extends object>(message: Message<T>): FieldType<T[]> {
  return {
    wireType: WireType.LengthDelimited,
    empty: () => [],
    readWire: (reader, before) => append(before, () => message.readWire(reader.enter())),
    readJson: (value) => requireList(value).map((item) => message.readJson(item)),
  }
}
