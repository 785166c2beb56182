// The rest is not read.
const maxLength = 1_024

/** The text of a chat up to its first user message. All requests of a conversation begin with it. */
export function readPrefix(messages: readonly unknown[]): string {
  let prefix = ''
  for (const message of messages) {
    const { role, content } = (message ?? {}) as { role?: unknown; content?: unknown }
    prefix += readText(content).slice(0, maxLength - prefix.length)
    if (role === 'user' || prefix.length >= maxLength) break
  }
  return prefix
}

function readText(content: unknown): string {
  if (typeof content === 'string') return content
  const part: unknown = Array.isArray(content) ? content[0] : undefined
  const { text } = (part ?? {}) as { text?: unknown }
  return typeof text === 'string' ? text : ''
}
