import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'

/** A fault that somebody might build in, and the test file that must notice it. */
export interface Mutation {
  /** What is wrong then, as in "a foreign key's model is found". */
  fault: string
  file: string
  /** A text that the file has once. */
  find: string
  replace: string
  /** The test file, of vitest or of pytest. */
  test: string
}

/** The mutated text of a mutation's file. @throws {Error} when the file does not have its text exactly once */
export async function locateMutation(root: string, { file, find, replace }: Mutation): Promise<string> {
  const text = await readFile(path.join(root, file), 'utf8')
  const times = text.split(find).length - 1
  if (times !== 1 || find === replace) throw new Error(`${file} has this ${times} times: ${find}`)
  return text.replace(find, () => replace)
}

/** Changes the file; the function that is returned changes it back. */
export async function applyMutation(root: string, mutation: Mutation): Promise<() => Promise<void>> {
  const file = path.join(root, mutation.file)
  const mutated = await locateMutation(root, mutation)
  const original = await readFile(file)
  await writeFile(file, mutated)
  return () => writeFile(file, original)
}
