import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'

/** A deliberate fault, and the test file that must notice it. */
export interface Mutation {
  /** What the fault does, for example "a foreign key's model is found". */
  fault: string
  file: string
  /** A text that occurs once in the file. */
  find: string
  replace: string
  /** The test file, of vitest or of pytest. */
  test: string
}

/**
 * Returns the mutated text of a mutation's file. @throws {Error} when the file does not contain the text exactly once
 */
export async function locateMutation(root: string, { file, find, replace }: Mutation): Promise<string> {
  const text = await readFile(path.join(root, file), 'utf8')
  const times = text.split(find).length - 1
  if (times !== 1 || find === replace) throw new Error(`${file} has this ${times} times: ${find}`)
  return text.replace(find, () => replace)
}

/** Applies a mutation to its file. The returned function reverts it. */
export async function applyMutation(root: string, mutation: Mutation): Promise<() => Promise<void>> {
  const file = path.join(root, mutation.file)
  const mutated = await locateMutation(root, mutation)
  const original = await readFile(file)
  await writeFile(file, mutated)
  return () => writeFile(file, original)
}
