import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { findViolations, useBrowser } from '../support/browser.ts'
import { useStack } from '../support/stack.ts'
import { makeDemo, type Demo } from './demo.ts'
import { listRoutes } from './routes.ts'
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
  check: (page: Page) => Promise<string[]>,
): Promise<string[]> {
  const { entity, key, server } = world
  const page = await browser.open({ url: server.url, path: '/login', key, ...options })
  const faults: string[] = []
  for (const { path, shows } of listRoutes(entity, demo)) {
    await page.goto(path)
    const isShown = await waitForText(page, shows)
    const found = isShown ? await check(page) : [`does not show "${shows}"`]
    faults.push(...found.map((fault) => `${path}: ${fault}`))
  }
  return faults
}

function waitForText(page: Page, text: string): Promise<boolean> {
  const found = page.locator('#root').getByText(text).filter({ visible: true }).first()
  return found.waitFor().then(
    () => true,
    () => false,
  )
}

describe('every route', () => {
  test('in the light theme fits its scales of styles, and axe finds nothing', async () => {
    const [sizes, hues] = [new Set<string>(), new Set<string>()]
    const faults = await visitAll({ theme: 'light' }, async (page) => {
      const styles = await readStyles(page)
      for (const size of styles.sizes) sizes.add(size)
      for (const hue of styles.hues) hues.add(hue)
      return [...styles.untabular.map((cell) => `"${cell}" has no tabular numerals`), ...(await findViolations(page))]
    })
    expect(faults).toEqual([])
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
