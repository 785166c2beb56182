// vLLM writes an issue of pydantic's as Python does.
const quoted = /'msg': (?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")/
const isListed = /^\d+ validation errors?:/
const internals = / \(parameter=[^()]*\)$/

/** The sentence in an engine's message, without the names and values of the engine's own code around it. */
export function extractSentence(message: string): string {
  if (!isListed.test(message)) return message.replace(internals, '')
  const [, single, double] = quoted.exec(message) ?? []
  return (single ?? double)?.replaceAll(/\\(['"\\])/g, '$1') ?? message
}
