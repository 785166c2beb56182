const mostCharacters = 200

/** A client's text for a message: the beginning of a long one. */
export function cut(text: string): string {
  return text.length > mostCharacters ? `${text.slice(0, mostCharacters).toWellFormed()}…` : text
}
