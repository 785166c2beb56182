// vLLM prints pydantic's issues as Python dictionaries.
const quoted = /'msg': (?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")/
const isListed = /^\d+ validation errors?:/
const internals = / \(parameter=[^()]*\)$/

/** Extracts the sentence for users from an engine's message, without names and values of the engine's own code. */
export function extractSentence(message: string): string {
  if (!isListed.test(message)) return message.replace(internals, '')
  const [, single, double] = quoted.exec(message) ?? []
  return (single ?? double)?.replaceAll(/\\(['"\\])/g, '$1') ?? message
}
