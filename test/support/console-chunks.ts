import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { gzipSync } from 'node:zlib'

const dist = path.join(import.meta.dirname, '..', '..', 'console', 'dist')

/** What Vite writes about a file of the built console. */
interface Chunk {
  file: string
  css?: string[]
  imports?: string[]
  isEntry?: boolean
  isDynamicEntry?: boolean
}

/** What the browser loads of the built console, in bytes after gzip. */
export interface ConsoleWeights {
  /** JavaScript and CSS of every page. */
  shell: number
  /** What each further chunk adds, by its source. */
  screens: Record<string, number>
}

export async function weighConsole(): Promise<ConsoleWeights> {
  const text = await readFile(path.join(dist, '.vite', 'manifest.json'), 'utf8')
  const manifest = JSON.parse(text) as Record<string, Chunk>
  const listFiles = (name: string, seen = new Set<string>()): Set<string> => {
    const { file, css = [], imports = [] } = manifest[name]!
    if (seen.has(file)) return seen
    for (const each of [file, ...css]) seen.add(each)
    for (const each of imports) listFiles(each, seen)
    return seen
  }
  const names = Object.keys(manifest)
  const shell = listFiles(names.find((name) => manifest[name]!.isEntry)!)
  const screens: Record<string, number> = {}
  for (const name of names.filter((each) => manifest[each]!.isDynamicEntry))
    screens[name] = await weigh([...listFiles(name)].filter((file) => !shell.has(file)))
  return { shell: await weigh(shell), screens }
}

async function weigh(files: Iterable<string>): Promise<number> {
  let bytes = 0
  for (const file of files) bytes += gzipSync(await readFile(path.join(dist, file)), { level: 9 }).length
  return bytes
}
