import type { Call } from './calls.ts'

/** How much of a value is shown. */
export interface PreviewLimits {
  /** Objects, lists and their members together. */
  nodes: number
  /** Of one text. */
  characters: number
  /** Of all texts together. */
  allCharacters: number
  depth: number
}

export const previewLimits: PreviewLimits = {
  nodes: 20_000,
  characters: 100_000,
  allCharacters: 1_000_000,
  depth: 60,
}

/**
 * Returns a value of JSON with so much left out that it can be shown, and whether anything was. A browser copies, lays
 * out and searches it in a few milliseconds, however large the value is.
 */
export function cutPreview(value: unknown, limits = previewLimits): { value: unknown; isCut: boolean } {
  const cutter = new Cutter(limits)
  return { value: cutter.cut(value, 0), isCut: cutter.isCut }
}

/** A call with as much of its payloads as a page can show. */
export interface WholeCall {
  call: Call
  isCut: boolean
}

/** Reads the answer that has a call. Null if it has none. */
export function readPreview(text: string): WholeCall | null {
  const { call } = JSON.parse(text) as { call: Call | null }
  if (!call) return null
  const { value, isCut } = cutPreview(call)
  return { call: value as Call, isCut }
}

class Cutter {
  readonly #limits: PreviewLimits
  #nodes: number
  #characters: number
  isCut = false

  constructor(limits: PreviewLimits) {
    this.#limits = limits
    this.#nodes = limits.nodes
    this.#characters = limits.allCharacters
  }

  cut(value: unknown, depth: number): unknown {
    this.#nodes--
    if (typeof value === 'string') return this.#cutText(value)
    if (typeof value !== 'object' || value === null) return value
    if (depth >= this.#limits.depth) return this.#mark('… deeper levels')
    return Array.isArray(value) ? this.#cutList(value, depth) : this.#cutObject(value as Record<string, unknown>, depth)
  }

  #cutText(text: string): string {
    const kept = Math.max(0, Math.min(this.#limits.characters, this.#characters))
    this.#characters -= Math.min(text.length, kept)
    if (text.length <= kept) return text
    return this.#mark(`${text.slice(0, kept)}… ${text.length - kept} more characters`)
  }

  #cutList(list: readonly unknown[], depth: number): unknown[] {
    const shown: unknown[] = []
    for (const item of list) {
      if (this.#nodes <= 0) return [...shown, this.#mark(`… ${list.length - shown.length} more items`)]
      shown.push(this.cut(item, depth + 1))
    }
    return shown
  }

  #cutObject(object: Record<string, unknown>, depth: number): unknown {
    const shown: [string, unknown][] = []
    const names = Object.keys(object)
    for (const name of names) {
      if (this.#nodes <= 0) {
        shown.push(['…', this.#mark(`${names.length - shown.length} more members`)])
        break
      }
      shown.push([name, this.cut(object[name], depth + 1)])
    }
    return Object.fromEntries(shown)
  }

  #mark(text: string): string {
    this.isCut = true
    return text
  }
}
