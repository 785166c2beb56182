import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'
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
interface ConsoleWeights {
  /** JavaScript and CSS of every page. */
  shell: number
  /** What each further chunk adds, by its source. */
  screens: Record<string, number>
}

async function weighConsole(): Promise<ConsoleWeights> {
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

test('the shell is at most 102 kB, and what a screen adds at most 40 kB', async () => {
  const { shell, screens } = await weighConsole()
  expect(shell).toBeLessThanOrEqual(102_000)
  expect(Object.keys(screens).length).toBeGreaterThan(8)
  expect(Object.entries(screens).filter(([, bytes]) => bytes > 40_000)).toEqual([])
})

test('the page has no inline script and no inline style, and each asset is there compressed too', async () => {
  const html = await readFile(path.join(dist, 'index.html'), 'utf8')
  expect(html.match(/<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=/g)).toBeNull()
  const assets = await readdir(path.join(dist, 'assets'))
  const plain = assets.filter((name) => !/\.(?:br|gz)$/.test(name))
  expect(assets.toSorted()).toEqual(plain.flatMap((name) => [name, `${name}.br`, `${name}.gz`]).toSorted())
})

test('the console names no other host: it works without internet', async () => {
  for (const name of await readdir(path.join(dist, 'assets'))) {
    if (!/\.(?:js|css)$/.test(name)) continue
    const text = await readFile(path.join(dist, 'assets', name), 'utf8')
    const loads = text.match(/(?:import|url|fetch|src=)\(?["'`]?https?:\/\/[^"'`)]+/g) ?? []
    expect([name, loads]).toEqual([name, []])
  }
})
