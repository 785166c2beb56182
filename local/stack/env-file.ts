import { readFileSync } from 'node:fs'
import { replaceFile } from './json-file.ts'
import { layoutOf } from './layout.ts'

/** The contents of `.trainyard/env`, for other tools. */
export interface StackEnv {
  TRAINYARD_URL: string
  TRAINYARD_API_KEY: string
  TRAINYARD_BASE_MODEL: string
  KUBECONFIG: string
}

/** Writes the file in dotenv form. Only its owner can read it, because it contains a key. */
export function writeStackEnv(stateFolder: string, env: StackEnv): void {
  const lines = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  replaceFile(layoutOf(stateFolder).env, `${lines.join('\n')}\n`)
}

/** Reads the file. Undefined when the stack was never up. */
export function readStackEnv(stateFolder: string): StackEnv | undefined {
  try {
    return parseDotenv(readFileSync(layoutOf(stateFolder).env, 'utf8')) as unknown as StackEnv
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Parses `NAME=value` lines. The value is everything after the first `=`. */
export function parseDotenv(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => /^[A-Z_]+=/.test(line))
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]))
}
