const gone = '***'

/**
 * What a secret looks like in a line of a log, and what is left of it. The order matters: whole tokens go before the
 * names that stand in front of them.
 */
const secrets: [RegExp, string][] = [
  // Whoever signed an address may read what it names: nothing of its query stays.
  [
    /\b([a-z][a-z0-9+.-]*:\/\/[^\s?#"'<>]*)\?[^\s"'<>]*(?:signature|credential|token|sig|key|policy)=[^\s"'<>]*/gi,
    `$1?${gone}`,
  ],
  [/\b([a-z][a-z0-9+.-]*:\/\/)[^\s/?#"'<>]*@/gi, `$1${gone}@`],
  [/\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{6,}/gi, `$1 ${gone}`],
  // JSON web tokens, our keys, those of AWS, GitHub, Hugging Face and OpenAI.
  [/\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*/g, gone],
  [/(?<![A-Za-z0-9])(ty_|hf_|sk-|gh[opsu]_|github_pat_)[A-Za-z0-9_-]{8,}/g, `$1${gone}`],
  [/(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])/g, gone],
  [
    /((?:password|passwd|pwd|passphrase|secret|token|api[_-]?key|access[_-]?key|secret[_-]?key|private[_-]?key|authorization|credentials?|signature)["']?\s*[=:]\s*)(?:"[^"]*"?|'[^']*'?|[^\s,;&"'}\])]+)/gi,
    `$1${gone}`,
  ],
]

/** A line of a log without passwords, keys, tokens and signatures. */
export function scrub(text: string): string {
  return secrets.reduce((rest, [pattern, left]) => rest.replaceAll(pattern, left), text)
}

/** At most so many characters of a text, scrubbed. Secrets go before it is cut, or half of one could stay. */
export function cutText(text: string, longest: number): string {
  return scrub(text.slice(0, 2 * longest))
    .slice(0, longest)
    .toWellFormed()
}
