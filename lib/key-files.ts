import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { Type } from 'typebox'

/** For the schemas of processes whose keys may be in files. */
export const keySettings = {
  // The folder of a mounted Secret. The file engine-key has the value of TRAINYARD_ENGINE_KEY.
  TRAINYARD_KEY_FOLDER: Type.Optional(Type.String({ pattern: '^/' })),
}

/** The environment, with the keys of TRAINYARD_KEY_FOLDER as variables. A file counts more than a variable. */
export function withKeyFiles(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const folder = env.TRAINYARD_KEY_FOLDER
  if (folder === undefined) return env
  // Kubernetes writes the files into hidden folders, and links to them.
  const names = readdirSync(folder).filter((name) => !name.startsWith('.'))
  const read = (name: string) => readFileSync(path.join(folder, name), 'utf8').trim()
  const toVariable = (name: string) => `TRAINYARD_${name.toUpperCase().replaceAll('-', '_')}`
  return { ...env, ...Object.fromEntries(names.map((name) => [toVariable(name), read(name)])) }
}
