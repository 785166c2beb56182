const maxCharacters = 200

/** A client's text for a message: the beginning of a long one. */
export function cut(text: string): string {
  return text.length > maxCharacters ? `${text.slice(0, maxCharacters).toWellFormed()}…` : text
}
