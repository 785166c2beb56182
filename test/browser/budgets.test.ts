import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'
import { weighConsole } from '../support/console-chunks.ts'

const dist = path.join(import.meta.dirname, '..', '..', 'console', 'dist')

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
