import type { ChatTokens } from '../../accounts/usage/ledger.ts'

const nothing = Buffer.alloc(0)
const usageMember = Buffer.from('"usage":{')
// Engines write both counts first.
const searchedBytes = 256
const promptTokens = /"prompt_tokens":(\d{1,15})[,}]/
const completionTokens = /"completion_tokens":(\d{1,15})[,}]/

/**
 * Searches the usage that an engine has written without spaces. A quote within a text is always escaped, so that no
 * text can contain the member. If there are several, the last one counts. Undefined if there is none, or if it is
 * incomplete.
 */
export function findUsage(bytes: Buffer): ChatTokens | undefined {
  const at = bytes.lastIndexOf(usageMember)
  if (at < 0) return undefined
  const text = bytes.toString('latin1', at, at + searchedBytes)
  const [prompt, completion] = [promptTokens.exec(text)?.[1], completionTokens.exec(text)?.[1]]
  if (prompt === undefined || completion === undefined) return undefined
  return { promptTokens: Number(prompt), completionTokens: Number(completion) }
}

/** Searches the usage in bytes that arrive in chunks. */
export class UsageSearch {
  #found: ChatTokens | undefined
  /** The last bytes that have arrived. */
  #rest: Buffer = nothing

  get found(): ChatTokens | undefined {
    return this.#found
  }

  add(chunk: Buffer): void {
    const joint = this.#rest.length > 0 && Buffer.concat([this.#rest, chunk.subarray(0, searchedBytes)])
    this.#found = findUsage(chunk) ?? (joint ? findUsage(joint) : undefined) ?? this.#found
    this.#rest = joint && chunk.length < searchedBytes ? joint.subarray(-searchedBytes) : chunk.subarray(-searchedBytes)
  }
}
