import { parseUpTo, type Value } from '../../../lib/json/value.ts'

// Parsed values take about fifty times the memory of their texts.
const maxParsed = 2 * 1024 * 1024

/** The texts that refs resolve to. Those that a path leads into are parsed. */
export class RefTexts {
  readonly #texts = new Map<string, string | undefined>()
  readonly #parsed = new Map<string, Value>()
  #parsedBytes = 0

  /** A ref that was not found is also recorded as known. */
  add(refs: Iterable<string>, found: ReadonlyMap<string, string>): void {
    for (const ref of refs) this.#texts.set(ref, found.get(ref))
  }

  isKnown(ref: string): boolean {
    return this.#texts.has(ref)
  }

  getText(ref: string): string | undefined {
    return this.#texts.get(ref)
  }

  /** The value is shared, so no caller may change it. Undefined also for a text with too many values. */
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
