// Room for the start of a body up to a model's id.
const maxHeadLength = 1024
const firstMember = /^[ \t\r\n]*\{[ \t\r\n]*"model_id"[ \t\r\n]*:[ \t\r\n]*"([^"\\]*)"/

/**
 * Looks for a `model_id` that is a body's first member. Reports it once, while the rest of the body is still arriving.
 * Clients send it first. If another member is first, nothing is reported.
 */
export function watchForModelId(onModelId: (modelId: string) => Promise<void>): (chunk: Buffer) => Promise<void> {
  let head = ''
  let isOver = false
  return async (chunk) => {
    if (isOver) return
    head += chunk.toString('latin1', 0, maxHeadLength)
    const [, modelId] = firstMember.exec(head) ?? []
    isOver = modelId !== undefined || head.length >= maxHeadLength
    if (modelId !== undefined) await onModelId(modelId)
  }
}
