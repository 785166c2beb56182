// Texts of JSON values that cost more than their size suggests.

export const kib = 1024
export const mib = 1024 * kib

const repeat = (text: string, bytes: number) => text.repeat(Math.max(1, Math.floor(bytes / text.length)))

/** By the name of the problem: JSON text of about this many bytes. */
export const oddValues: Record<string, (bytes: number) => string> = {
  deep: (bytes) => repeat('[', bytes / 2) + repeat(']', bytes / 2),
  'deep objects': (bytes) => `${repeat('{"a":', (bytes * 5) / 6)}1${repeat('}', bytes / 6)}`,
  'as deep as allowed': () => '['.repeat(400) + ']'.repeat(400),
  'many objects': (bytes) => `[${repeat('{},', bytes)}{}]`,
  'many lists': (bytes) => `[${repeat('[],', bytes)}[]]`,
  'many numbers': (bytes) => `[${repeat('1,', bytes)}1]`,
  wide: (bytes) => `{${writeMembers(bytes)}}`,
  long: (bytes) => `"${repeat('a', bytes)}"`,
  words: (bytes) => `"${repeat('a ', bytes)}"`,
  dots: (bytes) => `"${repeat('a.', bytes)}"`,
  escapes: (bytes) => `"${repeat(String.raw`\u0041`, bytes)}"`,
  'control characters': (bytes) => `"${repeat(String.raw`\u0000`, bytes)}"`,
  backslashes: (bytes) => `"${repeat('\\\\', bytes)}"`,
  digits: (bytes) => repeat('9', bytes),
  'one key again and again': (bytes) => `{${repeat('"a":{},', bytes)}"a":1}`,
  'spaces only': (bytes) => `${repeat(' ', bytes)}1`,
  'cut off': (bytes) => `[${repeat('{"a":[', bytes)}`,
}

function writeMembers(bytes: number): string {
  const count = Math.max(1, Math.floor(bytes / 14))
  return Array.from({ length: count }, (_, index) => `"k${String(index).padStart(8, '0')}":1`).join(',')
}
