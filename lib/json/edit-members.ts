import { jsonBytes } from './bytes.ts'
import type { ByteRange, JsonMember } from './outline.ts'

const { space, closeBrace } = jsonBytes

/** Where the members of an object are in its text. */
export interface PlacedMembers {
  /** In order, repeated keys too. */
  all: readonly JsonMember[]
  /** The value of each key that counts: the last one. */
  counting: ReadonlyMap<string, ByteRange>
}

/**
 * Changes members of an object in the buffer that holds its text. Members that are left out become spaces. A value that is
 * not longer than the one before takes its place; a longer one is written behind the last member. Of a repeated key only
 * the member that counts stays, so that no reader can take another.
 *
 * @returns the changed text; undefined when the buffer has no room for it, and nothing is changed then
 */
export function editMembers(
  room: Buffer,
  members: PlacedMembers,
  changes: Record<string, unknown>,
): Buffer | undefined {
  const [first, last] = [members.all[0], members.all.at(-1)]
  if (!first || !last) return undefined
  const { overwritten, appended } = planChanges(members, changes)
  const end = last.value.end
  if (end + Buffer.byteLength(appended) + 1 > room.length) return undefined
  const kept = new Set([...members.counting].flatMap(([name, value]) => (Object.hasOwn(changes, name) ? [] : [value])))
  for (const [range, text] of overwritten) {
    fillSpaces(room, range.start, range.end)
    room.write(text, range.start)
    kept.add(range)
  }
  const count = blankOthers(room, members.all, kept)
  const written = room.write(count === 0 ? appended.slice(1) : appended, end)
  room[end + written] = closeBrace
  return room.subarray(first.key.start - 1, end + written + 1)
}

/** Which values are written over, and what comes behind the last member, with a comma before each. */
function planChanges({ counting }: PlacedMembers, changes: Record<string, unknown>) {
  const overwritten = new Map<ByteRange, string>()
  let appended = ''
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) continue
    const text = JSON.stringify(value)
    const range = counting.get(name)
    if (range && Buffer.byteLength(text) <= range.end - range.start) overwritten.set(range, text)
    else appended += `,${JSON.stringify(name)}:${text}`
  }
  return { overwritten, appended }
}

/** Writes spaces over all members but some, and over commas that separate nothing. Answers with how many there are. */
function blankOthers(room: Buffer, members: readonly JsonMember[], kept: ReadonlySet<ByteRange>): number {
  let count = 0
  for (const { key, value } of members) {
    const isKept = kept.has(value)
    // Before the first member that is kept there is nothing to separate it from.
    const isFirst = key === members[0]!.key
    if (!isFirst && !(isKept && count > 0)) room[key.start - 1] = space
    if (isKept) count++
    else fillSpaces(room, key.start, value.end)
  }
  return count
}

/** `Buffer.fill` takes longer for the few bytes of a value. */
function fillSpaces(room: Buffer, start: number, end: number): void {
  for (let at = start; at < end; at++) room[at] = space
}
