import path from 'node:path'
import type { Browser, CDPSession, Page } from 'playwright-core'
import type { SessionCookie } from '../../support/log-in.ts'

const probe = path.join(import.meta.dirname, 'probe.js')
const limitSeconds = 60

/** What a page shows. */
export interface Shown {
  /** At least so many elements, with a text if wanted. */
  selector: string
  text?: string
  count?: number
  /** The heading of the screen. A click on a screen with the same elements needs it. */
  heading?: string
  /** All its charts are drawn. */
  drawn?: boolean
}

export interface VisitOptions {
  /** How many times slower the page's processor is. */
  slowdown: number
  cookie?: SessionCookie
  height?: number
}

/** Opens a page in a context of its own, with empty caches, and closes it afterwards. A page that hangs is an error. */
export async function visit<T>(
  browser: Browser,
  { slowdown, cookie, height = 900 }: VisitOptions,
  work: (visit: Visit) => Promise<T>,
): Promise<T> {
  const context = await browser.newContext({ viewport: { width: 1_440, height }, locale: 'en-US' })
  try {
    context.setDefaultTimeout(limitSeconds * 1_000)
    if (cookie) await context.addCookies([cookie])
    await context.addInitScript({ path: probe })
    const page = await context.newPage()
    const devtools = await context.newCDPSession(page)
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: slowdown })
    return await work(new Visit(page, devtools))
  } finally {
    await within(limitSeconds, 'the page did not close', context.close())
  }
}

/** A page, and what its probe measures, in milliseconds. */
export class Visit {
  readonly page: Page
  readonly #devtools: CDPSession

  constructor(page: Page, devtools: CDPSession) {
    this.page = page
    this.#devtools = devtools
  }

  /** Opens an address. Returns how long after the navigation began this was painted. */
  async open(address: string, shown: Shown): Promise<number> {
    await this.page.addInitScript(`probe.expect(${JSON.stringify(shown)})`)
    await this.page.goto(address, { waitUntil: 'commit' })
    return this.ask('probe.painted', `${address}, ${describe(shown)}`)
  }

  /** Clicks. Returns how much later this was painted. */
  async click(selector: string, shown: Shown): Promise<number> {
    await this.expect(shown)
    await this.page.locator(selector).first().click()
    return this.ask('probe.sinceClick()', `a click on ${selector}, ${describe(shown)}`)
  }

  /** Runs a script. Returns how much later this was painted. */
  act(script: string, shown: Shown): Promise<number> {
    const timed = `(async () => {
      const begunMs = performance.now()
      ${script}
      probe.expect(${JSON.stringify(shown)})
      return (await probe.painted) - begunMs
    })()`
    return this.ask(timed, describe(shown))
  }

  /** Looks from now on for something that comes by itself. */
  async expect(shown: Shown): Promise<void> {
    await this.ask(`probe.expect(${JSON.stringify(shown)})`)
  }

  /** What the page's JavaScript holds after a garbage collection, in MB. */
  async readHeapMb(): Promise<number> {
    await within(limitSeconds, 'the page collected no garbage', this.#devtools.send('HeapProfiler.collectGarbage'))
    const usage = await within(limitSeconds, 'the page has no heap', this.#devtools.send('Runtime.getHeapUsage'))
    return usage.usedSize / 1e6
  }

  /** What a script of the page returns, such as a function of its probe. */
  ask<T>(script: string, what = script): Promise<T> {
    return within(limitSeconds, `the page did not answer: ${what}`, this.page.evaluate<T>(script))
  }
}

const describe = (shown: Shown) => `showing ${JSON.stringify(shown)}`

/** Waits at most so many seconds. A page that hangs answers nothing, and playwright would wait for it forever. */
export async function within<T>(seconds: number, sentence: string, work: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`${sentence} within ${seconds} s`)), seconds * 1_000)
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
    work.catch(() => {})
  }
}
