import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeAll, expect, test } from 'vitest'

const dist = path.join(import.meta.dirname, '..', '..', 'console', 'dist')

interface Chunk {
  file: string
  css?: string[]
  imports?: string[]
  isEntry?: boolean
  isDynamicEntry?: boolean
}

let manifest: Record<string, Chunk>

beforeAll(async () => {
  manifest = JSON.parse(await readFile(path.join(dist, '.vite', 'manifest.json'), 'utf8')) as Record<string, Chunk>
})

/** The files of a chunk and of all that it imports. */
function listFiles(name: string, seen = new Set<string>()): Set<string> {
  const { file, css = [], imports = [] } = manifest[name]!
  if (seen.has(file)) return seen
  for (const each of [file, ...css]) seen.add(each)
  for (const each of imports) listFiles(each, seen)
  return seen
}

async function weigh(files: Iterable<string>): Promise<number> {
  let bytes = 0
  for (const file of files) bytes += gzipSync(await readFile(path.join(dist, file)), { level: 9 }).length
  return bytes
}

test('the shell is at most 102 kB, and what a screen adds at most 40 kB', async () => {
  const shell = Object.keys(manifest).find((name) => manifest[name]!.isEntry)
  const shellFiles = listFiles(shell!)
  expect(await weigh(shellFiles)).toBeLessThanOrEqual(102_000)
  const screens = Object.keys(manifest).filter((name) => manifest[name]!.isDynamicEntry)
  expect(screens.length).toBeGreaterThan(8)
  for (const screen of screens) {
    const own = [...listFiles(screen)].filter((file) => !shellFiles.has(file))
    expect([screen, (await weigh(own)) <= 40_000]).toEqual([screen, true])
  }
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
