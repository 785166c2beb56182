import { jsonBytes } from './bytes.ts'
import type { ByteRange, JsonMember } from './outline.ts'

const { space, closeBrace } = jsonBytes

/** The positions of an object's members in its text. */
export interface PlacedMembers {
  /** In order, with repeated keys. */
  all: readonly JsonMember[]
  /** The value of each key. The last of repeated keys counts. */
  counting: ReadonlyMap<string, ByteRange>
}

/**
 * Changes members of an object in the buffer of its text. Removed members become spaces. A new value that is not longer
 * than the old one replaces it; a longer one is written after the last member. Of repeated keys only the last stays, so
 * that all readers see the same value.
 *
 * @returns the changed text; undefined if the buffer has no room for it, and then nothing is changed
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
  const kept = new Set<ByteRange>()
  for (const [name, value] of members.counting) if (!Object.hasOwn(changes, name)) kept.add(value)
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

/**
 * Returns the values to overwrite, and the text to append after the last member, with a comma before each new member.
 */
function planChanges({ counting }: PlacedMembers, changes: Record<string, unknown>) {
  const overwritten = new Map<ByteRange, string>()
  let appended = ''
  for (const name of Object.keys(changes)) {
    const value = changes[name]
    if (value === undefined) continue
    const text = JSON.stringify(value)
    const range = counting.get(name)
    if (range && Buffer.byteLength(text) <= range.end - range.start) overwritten.set(range, text)
    else appended += `,${JSON.stringify(name)}:${text}`
  }
  return { overwritten, appended }
}

/** Overwrites all other members, and commas that separate nothing, with spaces. Returns how many members are kept. */
function blankOthers(room: Buffer, members: readonly JsonMember[], kept: ReadonlySet<ByteRange>): number {
  let count = 0
  for (const { key, value } of members) {
    const isKept = kept.has(value)
    // The first kept member needs no comma before it.
    const isFirst = key === members[0]!.key
    if (!isFirst && !(isKept && count > 0)) room[key.start - 1] = space
    if (isKept) count++
    else fillSpaces(room, key.start, value.end)
  }
  return count
}

/** `Buffer.fill` is slower for the few bytes of a value. */
function fillSpaces(room: Buffer, start: number, end: number): void {
  for (let at = start; at < end; at++) room[at] = space
}
