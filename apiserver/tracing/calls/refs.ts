import { jsonBytes } from '../../../lib/json/bytes.ts'
import { findTextEnd } from '../../../lib/json/scan.ts'

const scheme = Buffer.from('"weave:///')

const { space, backslash, colon } = jsonBytes

/**
 * Finds the references in a payload, at any depth. A reference is a whole string. Returns undefined if there is none.
 */
export function findRefs(payload: Buffer): string[] | undefined {
  const refs = new Set<string>()
  for (let at = payload.indexOf(scheme); at !== -1;) {
    // A quote after a backslash is inside a string, which may contain many such quotes.
    const inText = payload[at - 1] === backslash
    const end = inText ? at + scheme.length : findTextEnd(payload, at + 1) + 1
    // Keys are not references.
    if (!inText && !isKey(payload, end)) refs.add(readText(payload, at, end))
    at = payload.indexOf(scheme, end)
  }
  return refs.size > 0 ? [...refs] : undefined
}

function isKey(payload: Buffer, end: number): boolean {
  while (payload[end]! <= space) end++
  return payload[end] === colon
}

function readText(payload: Buffer, start: number, end: number): string {
  return JSON.parse(payload.toString('utf8', start, end)) as string
}
