import { readFileSync, renameSync, writeFileSync } from 'node:fs'

/** Reads a JSON file of this project. Undefined if it is missing, or incomplete after a crash. */
export function readJson<T>(file: string): T | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as T
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Replaces a file atomically. By default only the owner can read it. */
export function replaceFile(file: string, content: string, mode = 0o600): void {
  writeFileSync(`${file}.tmp`, content, { mode })
  renameSync(`${file}.tmp`, file)
}

export function replaceJson(file: string, value: unknown): void {
  replaceFile(file, `${JSON.stringify(value, null, 2)}\n`)
}
