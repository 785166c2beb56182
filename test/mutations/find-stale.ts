import { access } from 'node:fs/promises'
import path from 'node:path'
import { locateMutation, type Mutation } from './mutation.ts'

/** Returns a sentence for each mutation whose text is not in its file exactly once, or whose test file is missing. */
export async function findStale(root: string, mutations: readonly Mutation[]): Promise<string[]> {
  const faults = await Promise.all(mutations.map((mutation) => findStaleText(root, mutation)))
  return faults.filter((fault) => fault !== undefined)
}

async function findStaleText(root: string, mutation: Mutation): Promise<string | undefined> {
  try {
    await locateMutation(root, mutation)
    await access(path.join(root, mutation.test))
    return undefined
  } catch (error) {
    return `test/mutations, "${mutation.fault}": ${error instanceof Error ? error.message : String(error)}`
  }
}
