import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'
import { withFirefox, type FirefoxPage } from './firefox.ts'
import { logIn } from '../support/log-in.ts'
import { useStack } from '../support/stack.ts'
import { makeDemo } from './demo.ts'
import { listRoutes } from './routes.ts'
import { useWorld } from './world.ts'

// FIREFOX=/path/to/firefox vitest run --project browser test/browser/firefox.test.ts
const command = process.env['FIREFOX'] ?? ''
/** Where pictures of all routes go. */
const pictures = process.env['TRAINYARD_PICTURES']

const stack = useStack()
const world = useWorld(stack)

const limitMs = 15_000

/** Whether a text comes to be seen, and all charts are drawn. */
async function appears(page: FirefoxPage, text: string): Promise<boolean> {
  const script = `(async () => {
    const hasValue = ({ textContent }) => textContent !== '–'
    const isDrawn = (figure) => figure.querySelector('canvas') !== null && [...figure.querySelectorAll('figcaption b')].some(hasValue)
    const until = performance.now() + ${limitMs}
    while (performance.now() < until) {
      const isThere = document.getElementById('root')?.innerText.includes(${JSON.stringify(text)})
      if (isThere && [...document.querySelectorAll('figure:has(figcaption button)')].every(isDrawn)) return true
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    return false
  })()`
  return (await page.evaluate(script)) === true
}

test.runIf(command !== '')(
  'every route shows its data in Firefox, without an error',
  { timeout: 300_000 },
  async () => {
    const { server, key, entity } = world
    const demo = await makeDemo(world, stack)
    if (pictures !== undefined) await mkdir(pictures, { recursive: true })
    const faults: string[] = []
    await withFirefox(command, async (page) => {
      await page.addCookie(await logIn(server.url, key))
      for (const [index, { path: pagePath, shows }] of listRoutes(entity, demo).entries()) {
        await page.open(server.url + pagePath)
        if (!(await appears(page, shows))) faults.push(`${pagePath} does not show "${shows}"`)
        const width = Number(await page.evaluate('document.documentElement.scrollWidth'))
        if (width > 1_440) faults.push(`${pagePath} is ${width} px wide`)
        faults.push(...page.errors.splice(0).map((text) => `${pagePath}: ${text}`))
        if (pictures !== undefined) await writeFile(path.join(pictures, `${index}.png`), await page.takePicture())
      }
    })
    expect(faults).toEqual([])
  },
)
