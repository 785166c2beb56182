import { JsonError, NotJson, parseText } from '../../json/text.ts'
import { maxDepth } from './depth.ts'

const quote = 0x22
const backslash = 0x5c
const firstPlain = 0x20

const plainValue = /[ \t\r\n]*(?:(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)|(true)|(false)|(null))/y
const space = /[ \t\r\n]*/y

/** As many values take some hundred MB; no program writes so many into one payload. */
const mostValues = 1_000_000

/** A text has more values than are built at once. */
export class TooManyValues extends JsonError {
  override name = 'TooManyValues'
}

/** How many values may still be built; texts that are in memory together share one. */
export class ValueBudget {
  left: number

  constructor(most = mostValues) {
    this.left = most
  }

  /** For one more. @throws {TooManyValues} */
  take(): void {
    if (--this.left < 0) throw new TooManyValues('too many values')
  }
}

/** A number as it was written: its digits, its sign, and whether it has a point or an exponent are kept. */
export class JsonNumber {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** A JSON value that loses nothing: numbers of any size, and the order of keys even of those that look like numbers. */
export type Value = null | boolean | string | JsonNumber | Value[] | Map<string, Value>

/**
 * Of a key given twice the last value counts, in the first one's place.
 *
 * @throws {JsonError} for what is not JSON, or is nested more than 500 deep, or has more values than the budget
 */
export function parseValue(text: string, budget?: ValueBudget): Value {
  const reader = new ValueReader(text, budget)
  const value = reader.readValue()
  if (!reader.isAtEnd()) throw notJson()
  return value
}

// Of a payload that is gone into: they take some ten MB, and a tenth of a second.
const mostOfPayload = 200_000

/** The same; undefined for what has too many values to be built while others wait. */
export function parseUpTo(text: string, most = mostOfPayload): Value | undefined {
  try {
    return parseValue(text, new ValueBudget(most))
  } catch (error) {
    if (error instanceof TooManyValues) return undefined
    throw error
  }
}

/** Compact JSON text, with numbers as they were written. */
export function writeValue(value: Value): string {
  if (value instanceof JsonNumber) return value.text
  if (Array.isArray(value)) return `[${value.map(writeValue).join(',')}]`
  if (!(value instanceof Map)) return JSON.stringify(value)
  const members = [...value].map(([key, member]) => `${JSON.stringify(key)}:${writeValue(member)}`)
  return `{${members.join(',')}}`
}

/** Reads JSON values from a text one after the other. */
class ValueReader {
  readonly #text: string
  readonly #budget: ValueBudget | undefined
  #at = 0
  #depth = 0

  constructor(text: string, budget: ValueBudget | undefined) {
    this.#text = text
    this.#budget = budget
  }

  isAtEnd(): boolean {
    return this.#peek() === ''
  }

  readValue(): Value {
    this.#budget?.take()
    const first = this.#peek()
    if (first === '"') return this.#readText()
    if (first !== '{' && first !== '[') return this.#readPlain()
    if (++this.#depth > maxDepth) throw new JsonError(`nested more than ${maxDepth} deep`)
    const value = first === '{' ? this.#readObject() : this.#readArray()
    this.#depth--
    return value
  }

  #readObject(): Map<string, Value> {
    const members = new Map<string, Value>()
    this.#readItems('}', () => {
      if (this.#peek() !== '"') throw notJson()
      const key = this.#readText()
      this.#expect(':')
      members.set(key, this.readValue())
    })
    return members
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
        // A text without escapes is itself; JSON.parse knows the others.
        return isPlain ? this.#text.slice(start + 1, at) : String(parseText(this.#text.slice(start, at + 1)))
      }
      if (unit === backslash) at++
      if (unit === backslash || unit < firstPlain) isPlain = false
    }
    throw notJson()
  }

  #readPlain(): Value {
    plainValue.lastIndex = this.#at
    const found = plainValue.exec(this.#text)
    if (!found) throw notJson()
    this.#at = plainValue.lastIndex
    if (found[1] !== undefined) return new JsonNumber(found[1])
    return found[4] === undefined ? found[2] !== undefined : null
  }

  #expect(character: string): void {
    if (this.#peek() !== character) throw notJson()
    this.#at++
  }

  /** The next character that is no white space; empty at the end. */
  #peek(): string {
    if (this.#text.charCodeAt(this.#at) <= firstPlain) {
      space.lastIndex = this.#at
      space.exec(this.#text)
      this.#at = space.lastIndex
    }
    return this.#text.charAt(this.#at)
  }
}

function notJson(): NotJson {
  return new NotJson()
}
