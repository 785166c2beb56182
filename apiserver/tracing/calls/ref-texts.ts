import { parseUpTo, type Value } from '../../../lib/json/value.ts'

// Parsed values take some fifty times as much as their texts.
const maxParsed = 2 * 1024 * 1024

/** What refs stand for: texts, of which those that are gone into are parsed. */
export class RefTexts {
  readonly #texts = new Map<string, string | undefined>()
  readonly #parsed = new Map<string, Value>()
  #parsedBytes = 0

  /** Those that were looked for and not found are known as well. */
  add(refs: Iterable<string>, found: ReadonlyMap<string, string>): void {
    for (const ref of refs) this.#texts.set(ref, found.get(ref))
  }

  isKnown(ref: string): boolean {
    return this.#texts.has(ref)
  }

  getText(ref: string): string | undefined {
    return this.#texts.get(ref)
  }

  /** Shared by all who ask: nobody may change it. Undefined too for what has too many values to be gone into. */
  getValue(ref: string): Value | undefined {
    const text = this.#texts.get(ref)
    if (text === undefined) return undefined
    const known = this.#parsed.get(ref)
    if (known !== undefined) return known
    const value = parseUpTo(text)
    if (value !== undefined) this.#keep(ref, value, text.length)
    return value
  }

  #keep(ref: string, value: Value, bytes: number): void {
    this.#parsedBytes += bytes
    if (this.#parsedBytes > maxParsed) {
      this.#parsed.clear()
      this.#parsedBytes = bytes
    }
    this.#parsed.set(ref, value)
  }
}
