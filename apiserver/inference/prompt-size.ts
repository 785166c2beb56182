/** Long prompts rarely have fewer bytes per token. */
export const bytesPerPromptToken = 3

export const bytesPerId = 8
// As in the engine (choice_members.py): more copies than these are left out.
const maxCopiedIds = 2 ** 20

/** The size of the prompts' ids in a reply: once, and a copy in each choice. */
export function sizePrompts(tokens: number, samples: number): number {
  return bytesPerId * (tokens + Math.min(tokens * samples, maxCopiedIds))
}
