import type { ChatTokens } from '../../accounts/usage/ledger.ts'

const usageMember = Buffer.from('"usage":{')
// Engines write both counts before anything else of it.
const searchedBytes = 256
const promptTokens = /"prompt_tokens":(\d{1,15})[,}]/
const completionTokens = /"completion_tokens":(\d{1,15})[,}]/

/**
 * The usage that an engine has written without spaces, found by a search: a quote within a text is always escaped, so that
 * no text can hold the member. The last one counts. Undefined when there is none, or when it is not whole.
 */
export function findUsage(bytes: Buffer): ChatTokens | undefined {
  const at = bytes.lastIndexOf(usageMember)
  if (at < 0) return undefined
  const text = bytes.toString('latin1', at, at + searchedBytes)
  const [prompt, completion] = [promptTokens.exec(text)?.[1], completionTokens.exec(text)?.[1]]
  if (prompt === undefined || completion === undefined) return undefined
  return { promptTokens: Number(prompt), completionTokens: Number(completion) }
}

/** The same in bytes that come in chunks. */
export class UsageSearch {
  #found: ChatTokens | undefined
  /** The end of what has come. */
  #rest: Buffer = Buffer.alloc(0)

  get found(): ChatTokens | undefined {
    return this.#found
  }

  add(chunk: Buffer): void {
    const joint = this.#rest.length > 0 && Buffer.concat([this.#rest, chunk.subarray(0, searchedBytes)])
    this.#found = findUsage(chunk) ?? (joint ? findUsage(joint) : undefined) ?? this.#found
    this.#rest = joint && chunk.length < searchedBytes ? joint.subarray(-searchedBytes) : chunk.subarray(-searchedBytes)
  }
}
