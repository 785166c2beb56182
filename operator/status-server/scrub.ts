import { scrubAddresses } from './scrub-addresses.ts'

const gone = '***'

/**
 * What a secret looks like in a line of a log, and what is left of it. The order matters: whole tokens go before the
 * names that stand in front of them. Whoever trains chooses the text: no pattern may look at a character more than a few
 * times, from however many places it starts.
 */
const secrets: [RegExp, string | ((match: string, ...groups: (string | undefined)[]) => string)][] = [
  [/\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{6,}/gi, `$1 ${gone}`],
  // JSON web tokens. What only begins like one is matched too, so that nothing within it is looked at again.
  [/\beyJ[A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*)?/g, (match, rest) => (isToken(match, rest) ? gone : match)],
  // Our keys, those of AWS, GitHub, Hugging Face and OpenAI.
  [/(?<![A-Za-z0-9])(ty_|hf_|sk-|gh[opsu]_|github_pat_)[A-Za-z0-9_-]{8,}/g, `$1${gone}`],
  [/(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])/g, gone],
  [
    /((?:password|passwd|pwd|passphrase|secret|token|api[_-]?key|access[_-]?key|secret[_-]?key|private[_-]?key|authorization|credentials?|signature)["']?\s*[=:]\s*)(?:"[^"]*"?|'[^']*'?|[^\s,;&"'}\])]+)/gi,
    `$1${gone}`,
  ],
]

// Of the part in front of the first dot: `eyJ` and five more.
const minHeaderLength = 8

function isToken(match: string, rest: string | undefined): boolean {
  return rest !== undefined && match.length - rest.length >= minHeaderLength
}

/** A line of a log without passwords, keys, tokens and signatures; it takes time in proportion to its length. */
export function scrub(text: string): string {
  // Their types are two overloads of one function.
  return secrets.reduce(
    (rest, [pattern, left]) =>
      typeof left === 'string' ? rest.replaceAll(pattern, left) : rest.replaceAll(pattern, left),
    scrubAddresses(text, gone),
  )
}

/** At most so many characters of a text, scrubbed. Secrets go before it is cut, or half of one could stay. */
export function cutText(text: string, longest: number): string {
  return scrub(text.slice(0, 2 * longest))
    .slice(0, longest)
    .toWellFormed()
}
