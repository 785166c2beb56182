const maxCharacters = 200

/** Truncates a client's text for a message. */
export function truncate(text: string): string {
  return text.length > maxCharacters ? `${text.slice(0, maxCharacters).toWellFormed()}…` : text
}
