// Walks along the plan with its own loop, which can pause after a stretch. skip.ts checks the keys and values.

import { isAt, jsonBytes } from './bytes.ts'
import { findTextEnd } from './scan.ts'
import { JsonError, NotJson } from './parse.ts'
import { parseText } from './parse-text.ts'
import { EventLoopYielder } from '../event-loop.ts'
import type { Plan } from './text-plan.ts'
import { closersOfWhole, createClosers, skipEnd, skipKey, skipSpace, walkOn } from './skip.ts'
import { JsonText } from './json-text.ts'

const { comma, openBracket, backslash, closeBracket, openBrace, closeBrace } = jsonBytes

// A body of 32 MiB with the smallest calls that clients send has fewer; a body of only `{}` would have ten million.
const maxTexts = 1_000_000

// The tree of texts has a list for each object and an entry for each item.
const maxObjects = 500_000
const maxItems = 2_000_000

// Scanned in one or two milliseconds.
const defaultStretchBytes = 256 * 1024

/** The texts in a value: the value itself, the texts of its items, or those of its members in the order of the plan. */
export type TextTree = JsonText | TextTree[] | undefined

/** The found texts in document order, and by their paths in the value. */
export interface PlannedTexts {
  texts: JsonText[]
  tree: TextTree
}

/**
 * Checks a JSON text and finds the values that a plan keeps as texts.
 *
 * @throws {JsonError} for a text that is not JSON or has too many of them, and TooDeep
 */
export function scanPlanned(bytes: Buffer, start: number, plan: Plan): PlannedTexts {
  const scan = new PlannedScan(bytes, { start, stretchBytes: Infinity, closers: closersOfWhole }).scan(plan)
  for (;;) {
    const { done, value } = scan.next()
    if (done) return value
  }
}

/** Does the same in stretches, and yields to other work between them. */
export async function scanInTurns(bytes: Buffer, start: number, plan: Plan): Promise<PlannedTexts> {
  if (bytes.length <= defaultStretchBytes) return scanPlanned(bytes, start, plan)
  const scan = new PlannedScan(bytes, { start, stretchBytes: defaultStretchBytes, closers: createClosers() }).scan(plan)
  const yielder = new EventLoopYielder()
  for (;;) {
    const { done, value } = scan.next()
    if (done) return value
    if (yielder.isDue()) await yielder.yield()
  }
}

/** Yields at the end of each stretch. */
type Scan<T> = Generator<undefined, T>

interface Stretches {
  start: number
  stretchBytes: number
  closers: Uint8Array
}

class PlannedScan {
  readonly texts: JsonText[] = []
  readonly #bytes: Buffer
  readonly #stretchBytes: number
  readonly #closers: Uint8Array
  #at: number
  /** Where the stretch ends. */
  #until: number
  #objects = 0

  constructor(bytes: Buffer, { start, stretchBytes, closers }: Stretches) {
    this.#bytes = bytes
    this.#closers = closers
    this.#at = start
    this.#stretchBytes = stretchBytes
    this.#until = start + stretchBytes
  }

  *scan(plan: Plan): Scan<PlannedTexts> {
    const tree = yield* this.#scanValue(plan, 0)
    skipEnd(this.#bytes, this.#at)
    return { texts: this.texts, tree }
  }

  *#scanValue(plan: Plan, depth: number): Scan<TextTree> {
    const byte = this.#peek()
    if (byte === openBrace && plan.members.length > 0) return yield* this.#scanMembers(plan, depth + 1)
    if (byte === openBracket && plan.item) return yield* this.#scanItems(plan.item, depth + 1)
    const start = this.#at
    yield* this.#skip(depth)
    if (!plan.isText) return undefined
    const text = new JsonText(this.#bytes, start, this.#at)
    this.texts.push(text)
    if (this.texts.length > maxTexts) throw new JsonError('too many values')
    return text
  }

  *#skip(depth: number): Scan<void> {
    const walk = { at: this.#at, depth, open: depth, closers: this.#closers }
    for (;;) {
      const end = walkOn(this.#bytes, walk, this.#until)
      if (end >= 0) return void (this.#at = end)
      yield
      this.#until = walk.at + this.#stretchBytes
    }
  }

  *#scanMembers(plan: Plan, depth: number): Scan<TextTree[]> {
    if (++this.#objects > maxObjects) throw new JsonError('too many values')
    const trees = plan.members.map((): TextTree => undefined)
    for (let more = this.#enter(closeBrace); more; more = this.#goOn(closeBrace)) {
      this.#peek()
      const start = this.#at
      this.#at = skipKey(this.#bytes, start)
      const index = findMember(plan, this.#bytes, start)
      if (index < 0) yield* this.#skip(depth)
      else trees[index] = yield* this.#scanValue(plan.members[index]!.plan, depth)
    }
    return trees
  }

  *#scanItems(item: Plan, depth: number): Scan<TextTree[]> {
    const trees: TextTree[] = []
    for (let more = this.#enter(closeBracket); more; more = this.#goOn(closeBracket)) {
      if (trees.length === maxItems) throw new JsonError('too many values')
      trees.push(yield* this.#scanValue(item, depth))
    }
    return trees
  }

  /** Enters an object or array. If it is empty, skips it and returns false. */
  #enter(closer: number): boolean {
    this.#at++
    return this.#peek() === closer ? this.#leave() : true
  }

  /** Moves to the next item. If there is none, leaves the object or array and returns false. */
  #goOn(closer: number): boolean {
    const byte = this.#peek()
    if (byte === closer) return this.#leave()
    if (byte !== comma) throw new NotJson()
    this.#at++
    return true
  }

  #leave(): false {
    this.#at++
    return false
  }

  #peek(): number | undefined {
    this.#at = skipSpace(this.#bytes, this.#at)
    return this.#bytes[this.#at]
  }
}

/** The index of the plan's member with the key at `start`; -1 for none. */
function findMember({ members, firstBytes }: Plan, bytes: Buffer, start: number): number {
  if (firstBytes[bytes[start + 1]!] === 0) return -1
  for (let index = 0; index < members.length; index++) if (isAt(bytes, start, members[index]!.key)) return index
  return findEscaped(members, bytes, start)
}

/** A key may contain escapes. */
function findEscaped(members: Plan['members'], bytes: Buffer, start: number): number {
  const end = findTextEnd(bytes, start + 1)
  if (!hasBackslash(bytes, start, end)) return -1
  const name = parseText(bytes.toString('utf8', start, end + 1))
  return members.findIndex((member) => member.name === name)
}

function hasBackslash(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at] === backslash) return true
  return false
}
