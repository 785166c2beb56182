const excerptLength = 20
// Searching this much takes about ten milliseconds. Other requests wait meanwhile.
const maxDescribedLength = 1024 * 1024

/** Where a text stops being JSON. */
export interface JsonSyntaxError {
  /** The index of the first character that JSON does not allow there; the text's length if the end is missing. */
  index: number
  reason: string
}

type Expected = 'value' | 'value or ]' | 'key' | 'key or }' | 'colon' | 'comma'

const space = /[ \t\r\n]*/y
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const word = /-?[A-Za-z_$][\w$]*/y
const textEscape = /["\\/bfnrt]|u[0-9a-fA-F]{4}/y

/** Words that programs write for numbers that JSON does not have, or for values that JSON spells differently. */
const foreignWords: Record<string, string> = {
  NaN: 'JSON has no NaN: send a number, or null',
  Infinity: 'JSON has no Infinity: send a number, or null',
  '-Infinity': 'JSON has no -Infinity: send a number, or null',
  undefined: 'JSON has no undefined: leave the member out, or send null',
  None: 'use null, not None',
  True: 'JSON writes true for True',
  False: 'JSON writes false for False',
}

/**
 * Finds the first syntax error of a text that JSON.parse rejects, because many messages of JSON.parse have no position.
 * Undefined for valid JSON.
 */
export function findJsonSyntaxError(text: string): JsonSyntaxError | undefined {
  return new SyntaxErrorFinder(text).find()
}

class SyntaxErrorFinder {
  readonly #text: string
  #at = 0
  /** The closing brackets of all open objects and arrays. */
  readonly #open: string[] = []
  #expected: Expected = 'value'

  constructor(text: string) {
    this.#text = text
  }

  find(): JsonSyntaxError | undefined {
    for (;;) {
      this.#match(space)
      if (this.#isOver() && this.#at >= this.#text.length) return undefined
      const reason = this.#step()
      if (reason !== undefined) return { index: this.#at, reason }
    }
  }

  #isOver(): boolean {
    return this.#expected === 'comma' && this.#open.length === 0
  }

  /** Reads one token. Returns the reason if JSON does not allow it here. */
  #step(): string | undefined {
    if (this.#at >= this.#text.length) return 'unexpected end of the text'
    if (this.#isOver()) return 'unexpected text after the end of the value'
    const character = this.#text[this.#at]!
    if (this.#expected === 'comma') return this.#readSeparator(character)
    if (this.#expected === 'colon') return this.#accept(character === ':', 'value', 'expected a colon after the name')
    const isClosed = character === this.#open.at(-1) && this.#expected.endsWith(character)
    if (isClosed) return this.#close()
    return this.#expected.startsWith('key') ? this.#readKey(character) : this.#readValue(character)
  }

  #readSeparator(character: string): string | undefined {
    if (character === this.#open.at(-1)) return this.#close()
    const next = this.#open.at(-1) === '}' ? 'key' : 'value'
    return this.#accept(character === ',', next, `a comma or ${this.#open.at(-1)} is missing`)
  }

  #readKey(character: string): string | undefined {
    if (character !== '"') return 'expected a name in double quotes'
    return this.#readText('colon')
  }

  #readValue(character: string): string | undefined {
    if (character === '"') return this.#readText('comma')
    if (character === '{') return this.#begin('}', 'key or }')
    if (character === '[') return this.#begin(']', 'value or ]')
    if (this.#match(number)) return void (this.#expected = 'comma')
    const start = this.#at
    const found = this.#match(word) ?? ''
    if (['true', 'false', 'null'].includes(found)) return void (this.#expected = 'comma')
    this.#at = start
    return Object.hasOwn(foreignWords, found) ? foreignWords[found] : 'a value is missing'
  }

  #begin(closer: string, expected: Expected): undefined {
    this.#open.push(closer)
    this.#at++
    this.#expected = expected
  }

  #close(): undefined {
    this.#open.pop()
    this.#at++
    this.#expected = 'comma'
  }

  #accept(isThere: boolean, expected: Expected, reason: string): string | undefined {
    if (!isThere) return reason
    this.#at++
    this.#expected = expected
    return undefined
  }

  #readText(expected: Expected): string | undefined {
    this.#at++
    for (; this.#at < this.#text.length; this.#at++) {
      const character = this.#text[this.#at]!
      if (character === '"') return this.#accept(true, expected, '')
      if (character < ' ') return 'a text has a control character that is not escaped'
      if (character !== '\\') continue
      this.#at++
      if (!this.#match(textEscape)) return 'a string has an invalid escape'
      this.#at--
    }
    return 'unexpected end of the text'
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0]
    this.#at += found?.length ?? 0
    return found
  }
}

/** Describes where and why a text is not JSON, unless it is very long. `startByte` is its position in the body. */
export function describeJsonSyntaxError(text: string, startByte: number): string {
  const found = text.length <= maxDescribedLength ? findJsonSyntaxError(text) : undefined
  if (!found) return 'not valid JSON'
  const { index, reason } = found
  const before = JSON.stringify(text.slice(Math.max(0, index - excerptLength), index))
  return `not valid JSON at byte ${startByte + Buffer.byteLength(text.slice(0, index))}, behind ${before}: ${reason}`
}
