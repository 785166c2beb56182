const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const openBracket = 0x5b
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

/** How far the scan of one text, object or array has come; it goes on when more of its bytes are there. */
export interface ValueScan {
  /** Of objects and arrays that are open. */
  depth: number
  deepest: number
  inText: boolean
  escaped: boolean
  /** How many objects and arrays there were, and how many commas: together a bound of how many values. */
  containers: number
  commas: number
}

export function startScan(): ValueScan {
  return { depth: 0, deepest: 0, inText: false, escaped: false, containers: 0, commas: 0 }
}

/**
 * Looks in `bytes[from..to)` for the end of a value that began with a quote, a brace or a bracket.
 *
 * It does not check the text: the end is meaningful only if the value parses.
 *
 * @returns the position behind the end, or -1 when the value goes on behind `to`
 */
export function scanValue(scan: ValueScan, bytes: Uint8Array, from: number, to: number): number {
  let { depth, deepest, inText, escaped, containers, commas } = scan
  let end = -1
  for (let at = from; at < to && end < 0; at++) {
    const byte = bytes[at]
    if (inText) {
      if (escaped) escaped = false
      else if (byte === backslash) escaped = true
      else if (byte === quote) inText = false
    } else if (byte === quote) inText = true
    else if (byte === openBrace || byte === openBracket) {
      containers++
      if (++depth > deepest) deepest = depth
    } else if (byte === closeBrace || byte === closeBracket) depth--
    else if (byte === comma) commas++
    if (depth === 0 && !inText) end = at + 1
  }
  Object.assign(scan, { depth, deepest, inText, escaped, containers, commas })
  return end
}
