import path from 'node:path'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { appears, findViolations, useBrowser } from '../support/browser.ts'
import { useStack } from '../support/stack.ts'
import { makeDemo, type Demo } from './demo.ts'
import { listRoutes, type Route } from './routes.ts'
import { findOverlaps, readStyles } from './styles.ts'
import { useWorld } from './world.ts'

const stack = useStack()
const world = useWorld(stack)
const browser = useBrowser()

/** Where pictures of all routes go, in each theme and width. */
const pictures = process.env['TRAINYARD_PICTURES']

let demo: Demo
beforeAll(async () => {
  demo = await makeDemo(world, stack)
})

const wide = { width: 1440, height: 900 }
const narrow = { width: 360, height: 900 }

async function takePicture(page: Page, index: number): Promise<void> {
  if (pictures === undefined) return
  const theme = await page.evaluate<boolean>(`matchMedia('(prefers-color-scheme: dark)').matches`)
  const name = `${theme ? 'dark' : 'light'}-${page.viewportSize()!.width}-${index}.png`
  await page.screenshot({ path: path.join(pictures, name) })
}

type Check = (page: Page, route: Route, index: number) => Promise<string[]>

/** Opens each route in one page. Returns what `check` finds in them, with their paths. */
async function visitAll(theme: 'light' | 'dark', check: Check): Promise<string[]> {
  const { entity, key, server } = world
  const page = await browser.open({ url: server.url, path: '/login', key, theme, ...wide })
  const faults: string[] = []
  for (const [index, route] of listRoutes(entity, demo).entries()) {
    await page.goto(route.path)
    const isShown = await appears(page, route.shows)
    await takePicture(page, index)
    const found = isShown ? await check(page, route, index) : [`does not show "${route.shows}"`]
    faults.push(...found.map((fault) => `${route.path}: ${fault}`))
  }
  return faults
}

/** What does not fit when the window becomes as narrow as a phone. */
async function findMisfits(page: Page, index: number): Promise<string[]> {
  await page.setViewportSize(narrow)
  // Charts and tables follow in the next frame.
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
  await takePicture(page, index)
  const width = await page.evaluate<number>('document.documentElement.scrollWidth')
  const found = [...(width > narrow.width ? [`is ${width} px wide`] : []), ...(await findOverlaps(page))]
  await page.setViewportSize(wide)
  return found
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
    const faults = await visitAll('light', async (page, { isStill }) => {
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

  test('in the dark theme has nothing that axe finds, and fits a narrow screen without a text over another', async () => {
    const check: Check = async (page, _, index) => [
      ...(await findViolations(page)),
      ...(await findMisfits(page, index)),
    ]
    expect(await visitAll('dark', check)).toEqual([])
  })
})
