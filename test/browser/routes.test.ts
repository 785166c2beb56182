import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { appears, findViolations, useBrowser } from '../support/browser.ts'
import { useStack } from '../support/stack.ts'
import { makeDemo, type Demo } from './demo.ts'
import { listRoutes, type Route } from './routes.ts'
import { readStyles } from './styles.ts'
import { useWorld } from './world.ts'

const stack = useStack()
const world = useWorld(stack)
const browser = useBrowser()

let demo: Demo
beforeAll(async () => {
  demo = await makeDemo(world, stack)
})

/** Opens each route in one page. Returns what `check` finds in them, with their paths. */
async function visitAll(
  options: { theme?: 'light' | 'dark'; width?: number },
  check: (page: Page, route: Route) => Promise<string[]>,
): Promise<string[]> {
  const { entity, key, server } = world
  const page = await browser.open({ url: server.url, path: '/login', key, ...options })
  const faults: string[] = []
  for (const route of listRoutes(entity, demo)) {
    const { path, shows } = route
    await page.goto(path)
    const isShown = await appears(page, shows)
    const found = isShown ? await check(page, route) : [`does not show "${shows}"`]
    faults.push(...found.map((fault) => `${path}: ${fault}`))
  }
  return faults
}

/** A screen is a command too, and what it shows can be downloaded. */
async function findMissingActions(page: Page): Promise<string[]> {
  const [commands, downloads] = await Promise.all([
    page.getByTitle('Show as a command').count(),
    page.getByTitle(/^Download (what is shown|the whole call)/).count(),
  ])
  return [...(commands === 1 ? [] : ['has no commands']), ...(downloads > 0 ? [] : ['has no download'])]
}

describe('every route', () => {
  test('in the light theme fits its scales of styles, has its commands and a download, and axe finds nothing', async () => {
    const [sizes, hues, spaces] = [new Set<string>(), new Set<string>(), new Set<string>()]
    const faults = await visitAll({ theme: 'light' }, async (page, { isStill }) => {
      const styles = await readStyles(page)
      for (const size of styles.sizes) sizes.add(size)
      for (const hue of styles.hues) hues.add(hue)
      for (const space of styles.spaces) spaces.add(space)
      return [
        ...styles.untabular.map((cell) => `"${cell}" has no tabular numerals`),
        ...(isStill ? [] : await findMissingActions(page)),
        ...(await findViolations(page)),
      ]
    })
    expect.soft(faults).toEqual([])
    expect.soft([...spaces]).toEqual([])
    expect(sizes.size).toBeLessThanOrEqual(6)
    expect([...hues].toSorted()).toEqual(['blue', 'orange'])
  })

  test('in the dark theme has nothing that axe finds', async () => {
    expect(await visitAll({ theme: 'dark' }, findViolations)).toEqual([])
  })

  test('fits a narrow screen', async () => {
    const measure = async (page: Page) => {
      const width = await page.evaluate<number>('document.documentElement.scrollWidth')
      return width > 360 ? [`is ${width} px wide`] : []
    }
    expect(await visitAll({ width: 360 }, measure)).toEqual([])
  })
})
