// Reads characters with its own loop, not bytes with skip.ts: the values of a text that is not ASCII would take twice as long.

import { jsonBytes } from './bytes.ts'
import { maxKeptDepth } from './depth.ts'
import { JsonError, NotJson } from './parse.ts'

const { space, quote, backslash } = jsonBytes

const plainValue = /[ \t\r\n]*(?:(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)|(true)|(false)|(null))/y
const whiteSpace = /[ \t\r\n]*/y

/** This many values take some hundred MB. No program writes so many into one payload. */
const maxValues = 1_000_000

/** A text has more values than can be built at once. */
export class TooManyValues extends JsonError {
  override name = 'TooManyValues'
}

/** How many more values may be built. Texts whose values are in memory together share one budget. */
export class ValueBudget {
  left: number

  constructor(max = maxValues) {
    this.left = max
  }

  /** Counts one more value. @throws {TooManyValues} */
  spend(): void {
    if (--this.left < 0) throw new TooManyValues('too many values')
  }
}

/** A number as it was written: keeps its digits, its sign, and whether it has a point or an exponent. */
export class JsonNumber {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** A lossless JSON value. It keeps numbers of any size and the order of keys, also of keys that look like numbers. */
export type Value = null | boolean | string | JsonNumber | Value[] | Map<string, Value>

/**
 * Parses a text losslessly. The last of repeated keys counts, in the position of the first.
 *
 * JSON.parse with a reviver also returns numbers as they were written. But it moves keys that look like numbers to the
 * front, overflows the stack on deep nesting, has no bound of values, and takes three times as long.
 *
 * @throws {JsonError} for a text that is not JSON, is nested more than 500 deep, or has more values than the budget
 */
export function parseValue(text: string, budget?: ValueBudget): Value {
  return readWhole(new ValueReader(text, lossless, budget))
}

/**
 * Parses a text into the values of JSON.parse, in three times its time.
 *
 * @throws {JsonError} for a text that is not JSON, or is nested more than 500 deep
 */
export function parsePlain(text: string): unknown {
  return readWhole(new ValueReader(text, plain))
}

function readWhole(reader: ValueReader): Value {
  const value = reader.readValue()
  if (!reader.isAtEnd()) throw new NotJson()
  return value
}

// This many values of a payload take about ten MB and a tenth of a second.
const maxPayloadValues = 200_000

/** Does the same. Returns undefined for a text with too many values to be built while other requests wait. */
export function parseUpTo(text: string, max = maxPayloadValues): Value | undefined {
  try {
    return parseValue(text, new ValueBudget(max))
  } catch (error) {
    if (error instanceof TooManyValues) return undefined
    throw error
  }
}

/** Writes compact JSON text, with numbers as they were written. */
export function writeValue(value: Value): string {
  if (value instanceof JsonNumber) return value.text
  if (Array.isArray(value)) return `[${value.map(writeValue).join(',')}]`
  if (!(value instanceof Map)) return JSON.stringify(value)
  const members = [...value].map(([key, member]) => `${JSON.stringify(key)}:${writeValue(member)}`)
  return `{${members.join(',')}}`
}

/** How numbers and objects are kept. */
interface Form {
  number: (text: string) => Value
  object: (members: Map<string, Value>) => Value
}

const lossless: Form = { number: (text) => new JsonNumber(text), object: (members) => members }
// Its values are no Values. Only parsePlain returns them.
const plain = { number: Number, object: Object.fromEntries } as unknown as Form

/** Parses the JSON values of a text one after another. */
class ValueReader {
  readonly #text: string
  readonly #form: Form
  readonly #budget: ValueBudget | undefined
  #at = 0
  #depth = 0

  constructor(text: string, form: Form, budget?: ValueBudget) {
    this.#text = text
    this.#form = form
    this.#budget = budget
  }

  isAtEnd(): boolean {
    return this.#peek() === ''
  }

  readValue(): Value {
    this.#budget?.spend()
    const first = this.#peek()
    if (first === '"') return this.#readText()
    if (first !== '{' && first !== '[') return this.#readPlain()
    if (++this.#depth > maxKeptDepth) throw new JsonError(`nested more than ${maxKeptDepth} levels deep`)
    const value = first === '{' ? this.#readObject() : this.#readArray()
    this.#depth--
    return value
  }

  #readObject(): Value {
    const members = new Map<string, Value>()
    this.#readItems('}', () => {
      if (this.#peek() !== '"') throw new NotJson()
      const key = this.#readText()
      this.#expect(':')
      members.set(key, this.readValue())
    })
    return this.#form.object(members)
  }

  #readArray(): Value[] {
    const items: Value[] = []
    this.#readItems(']', () => items.push(this.readValue()))
    return items
  }

  #readItems(closer: string, readItem: () => void): void {
    this.#at++
    if (this.#peek() === closer) {
      this.#at++
      return
    }
    for (let more = true; more;) {
      readItem()
      more = this.#peek() === ','
      this.#expect(more ? ',' : closer)
    }
  }

  #readText(): string {
    const start = this.#at
    let isPlain = true
    for (let at = start + 1; at < this.#text.length; at++) {
      const unit = this.#text.charCodeAt(at)
      if (unit === quote) {
        this.#at = at + 1
        // A text without escapes needs no parsing; JSON.parse parses the others.
        return isPlain ? this.#text.slice(start + 1, at) : parseEscapes(this.#text.slice(start, at + 1))
      }
      if (unit === backslash) at++
      if (unit === backslash || unit < space) isPlain = false
    }
    throw new NotJson()
  }

  #readPlain(): Value {
    plainValue.lastIndex = this.#at
    const found = plainValue.exec(this.#text)
    if (!found) throw new NotJson()
    this.#at = plainValue.lastIndex
    if (found[1] !== undefined) return this.#form.number(found[1])
    return found[4] === undefined ? found[2] !== undefined : null
  }

  #expect(character: string): void {
    if (this.#peek() !== character) throw new NotJson()
    this.#at++
  }

  /** The next character that is not white space; empty at the end. */
  #peek(): string {
    if (this.#text.charCodeAt(this.#at) <= space) {
      whiteSpace.lastIndex = this.#at
      whiteSpace.exec(this.#text)
      this.#at = whiteSpace.lastIndex
    }
    return this.#text.charAt(this.#at)
  }
}

function parseEscapes(quoted: string): string {
  try {
    return String(JSON.parse(quoted))
  } catch {
    throw new NotJson()
  }
}
