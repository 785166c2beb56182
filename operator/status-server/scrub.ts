import { scrubAddresses } from './scrub-addresses.ts'

const gone = '***'

/**
 * The patterns of secrets in a log line, and their replacements. The order matters: whole tokens are replaced before
 * the names in front of them. Users choose the text, so every pattern reads a character only a few times, wherever it
 * starts.
 */
const secrets: [RegExp, string | ((match: string, ...groups: (string | undefined)[]) => string)][] = [
  [/\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{6,}/gi, `$1 ${gone}`],
  // JSON web tokens. Also matches a text that only begins like one, so that it is not read again.
  [/\beyJ[A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*)?/g, (match, rest) => (isToken(match, rest) ? gone : match)],
  // Our keys, and those of AWS, GitHub, Hugging Face and OpenAI.
  [/(?<![A-Za-z0-9])(ty_|hf_|sk-|gh[opsu]_|github_pat_)[A-Za-z0-9_-]{8,}/g, `$1${gone}`],
  [/(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])/g, gone],
  [
    /((?:password|passwd|pwd|passphrase|secret|token|api[_-]?key|access[_-]?key|secret[_-]?key|private[_-]?key|authorization|credentials?|signature)["']?\s*[=:]\s*)(?:"[^"]*"?|'[^']*'?|[^\s,;&"'}\])]+)/gi,
    `$1${gone}`,
  ],
]

// The part before the first dot: `eyJ` and five more characters.
const minHeaderLength = 8

function isToken(match: string, rest: string | undefined): boolean {
  return rest !== undefined && match.length - rest.length >= minHeaderLength
}

/** Removes passwords, keys, tokens and signatures from a log line, in linear time. */
export function scrub(text: string): string {
  // TypeScript has two overloads for the two types of replacements.
  return secrets.reduce(
    (rest, [pattern, left]) =>
      typeof left === 'string' ? rest.replaceAll(pattern, left) : rest.replaceAll(pattern, left),
    scrubAddresses(text, gone),
  )
}

/** Scrubs a text before truncating it to `maxLength` characters: otherwise half of a secret could stay. */
export function truncateScrubbed(text: string, maxLength: number): string {
  return scrub(text.slice(0, 2 * maxLength))
    .slice(0, maxLength)
    .toWellFormed()
}
