import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, inject } from 'vitest'
import { findLaunchOptions } from './chromium.ts'
import { logIn } from './log-in.ts'

/** How a page is opened. */
interface Visit {
  /** The server's address, without a path. */
  url: string
  path: string
  /** The API key of the session. Without it, nobody is logged in. */
  key?: string
  theme?: 'light' | 'dark'
  width?: number
  height?: number
  /** The statuses of answers that the page expects, such as 404. Others of at least 400 are faults. */
  statuses?: number[]
  /** Other messages in the console that are expected. */
  faults?: RegExp
  /** Hosts that the page may ask, besides the server. */
  hosts?: string[]
}

const connect = () => chromium.connect(inject('browser'))

/** Starts a browser for one file, where the test run has none. */
export const launchBrowser = async () => chromium.launch(await findLaunchOptions())

/**
 * Opens pages in the browser of the test run, or in another one, each in a context of its own. A test fails if one of its pages
 * has an error, breaks its content security policy, writes an error to the console, opens a dialog, or asks another host.
 */
export function useBrowser(start: () => Promise<Browser> = connect) {
  let browser: Browser
  const contexts: BrowserContext[] = []
  const faults: string[] = []
  beforeAll(async () => {
    browser = await start()
  })
  afterEach(async () => {
    await Promise.all(contexts.splice(0).map((context) => context.close()))
    expect(faults.splice(0)).toEqual([])
  })
  afterAll(() => browser?.close())

  const open = async ({ url, path, key, theme = 'light', width = 1440, height = 900, ...expected }: Visit) => {
    const context = await browser.newContext({
      baseURL: url,
      colorScheme: theme,
      locale: 'en-US',
      viewport: { width, height },
      reducedMotion: 'reduce',
    })
    contexts.push(context)
    context.setDefaultTimeout(30_000)
    if (key !== undefined) await context.addCookies([await logIn(url, key)])
    const page = await context.newPage()
    watch(page, (fault) => faults.push(fault), { hosts: [new URL(url).host], ...expected })
    await page.goto(path)
    return page
  }
  return { open }
}

function watch(
  page: Page,
  report: (fault: string) => void,
  { hosts, statuses = [], faults }: { hosts: readonly string[]; statuses?: readonly number[]; faults?: RegExp },
): void {
  page.on('pageerror', (error) => report(`error: ${error.stack ?? error.message}`))
  page.on('dialog', (dialog) => {
    report(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('request', (request) => {
    const asked = request.url()
    if (/^https?:/.test(asked) && !hosts.includes(new URL(asked).host)) report(`request to ${asked}`)
  })
  // Violations of the policy are written to the console too.
  page.on('console', (message) => {
    const text = message.text()
    const status = Number(/^Failed to load resource: .* status of (\d+)/.exec(text)?.[1])
    if (message.type() !== 'error' || statuses.includes(status) || faults?.test(text)) return
    report(`${text} (${message.location().url})`)
  })
}

/** Whether a text comes to be seen in a page. */
export function appears(page: Page, text: string): Promise<boolean> {
  const found = page.locator('#root').getByText(text).filter({ visible: true }).first()
  return found.waitFor().then(
    () => true,
    () => false,
  )
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface AxeResult {
  violations: { id: string; nodes: { target: string[]; failureSummary: string }[] }[]
}

/** What axe finds in a page. */
export async function findViolations(page: Page): Promise<string[]> {
  await page.evaluate(`if (!globalThis.axe) { ${axe} }`)
  const { violations } = await page.evaluate<AxeResult>(`axe.run(document, { resultTypes: ['violations'] })`)
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} ${target.join(' ')}: ${failureSummary.replaceAll(/\s+/g, ' ')}`),
  )
}
