import { JsonError, parseText } from '../../json/text.ts'
import { Turns } from '../turns.ts'
import type { Plan } from './plan.ts'
import { closersOfWhole, createClosers, isAt, notJson, skipKey, skipSpace, walkOn } from './skip.ts'
import { JsonText } from './text.ts'

const backslash = 0x5c
const comma = 0x2c
const quote = 0x22
const openBracket = 0x5b
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

// A body of 32 MiB with the smallest calls that there are has fewer; of nothing but `{}` it would have ten million.
const mostTexts = 1_000_000

// The places of what is in each, and of each item, are remembered until the texts are in theirs.
const mostObjects = 500_000
const mostItems = 2_000_000

// Gone over in one or two milliseconds.
const usualStretchBytes = 256 * 1024

/** The texts in a value: itself, or those of its items, or those of its members in the order of the plan. */
export type TextTree = JsonText | TextTree[] | undefined

/** Texts in the order in which they stand, and by their places in the value. */
export interface PlannedTexts {
  texts: JsonText[]
  tree: TextTree
}

/**
 * Goes over a JSON text and finds the values that a plan takes as texts.
 *
 * @throws {JsonError} for what is not JSON, and TooDeep
 */
export function scanPlanned(bytes: Buffer, start: number, plan: Plan): PlannedTexts {
  const scan = new PlannedScan(bytes, { start, stretchBytes: Infinity, closers: closersOfWhole }).scan(plan)
  for (;;) {
    const { done, value } = scan.next()
    if (done) return value
  }
}

/** The same in stretches, between which others have their turn. */
export async function scanInTurns(bytes: Buffer, start: number, plan: Plan): Promise<PlannedTexts> {
  if (bytes.length <= usualStretchBytes) return scanPlanned(bytes, start, plan)
  const scan = new PlannedScan(bytes, { start, stretchBytes: usualStretchBytes, closers: createClosers() }).scan(plan)
  const turns = new Turns()
  for (;;) {
    const { done, value } = scan.next()
    if (done) return value
    if (turns.isOver()) await turns.next()
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
    if (this.#peek() !== undefined) throw notJson()
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
    if (this.texts.length > mostTexts) throw new JsonError('too many values')
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
    if (++this.#objects > mostObjects) throw new JsonError('too many values')
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
      if (trees.length === mostItems) throw new JsonError('too many values')
      trees.push(yield* this.#scanValue(item, depth))
    }
    return trees
  }

  /** Goes into an object or array; false when it is empty, and then behind it. */
  #enter(closer: number): boolean {
    this.#at++
    return this.#peek() === closer ? this.#leave() : true
  }

  /** Goes to the next item; false when there is none, and then behind the object or array. */
  #goOn(closer: number): boolean {
    const byte = this.#peek()
    if (byte === closer) return this.#leave()
    if (byte !== comma) throw notJson()
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

/** Which of a plan's members has its key at `start`; -1 for none. */
function findMember({ members, firstBytes }: Plan, bytes: Buffer, start: number): number {
  if (firstBytes[bytes[start + 1]!] === 0) return -1
  for (let index = 0; index < members.length; index++) if (isAt(bytes, start, members[index]!.key)) return index
  return findEscaped(members, bytes, start)
}

/** A key can be written with escapes. */
function findEscaped(members: Plan['members'], bytes: Buffer, start: number): number {
  let isEscaped = false
  let end = start + 1
  for (; bytes[end] !== quote; end++)
    if (bytes[end] === backslash) {
      isEscaped = true
      end++
    }
  const name = isEscaped && parseText(bytes.toString('utf8', start, end + 1))
  return members.findIndex((member) => member.name === name)
}
