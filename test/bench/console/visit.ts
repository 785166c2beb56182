import path from 'node:path'
import type { Browser, CDPSession, Page } from 'playwright-core'
import type { SessionCookie } from '../../support/log-in.ts'
import { within } from './within.ts'

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

/** How long something took by the clock, and how much of it the page's main thread computed. */
export interface Timed {
  ms: number
  cpuMs: number
}

/** Names both for the results. */
export function nameTimed(name: string, { ms, cpuMs }: Timed): Record<string, number> {
  return { [`${name}_ms`]: ms, [`${name}_cpu_ms`]: cpuMs }
}

export interface VisitOptions {
  /** How many times slower the page's processor is. */
  slowdown: number
  cookie?: SessionCookie
  height?: number
}

/** Opens a page in a context of its own, with empty caches, and closes it afterwards. */
export async function visit<T>(
  browser: Browser,
  { slowdown, cookie, height = 900 }: VisitOptions,
  work: (visit: Visit) => Promise<T>,
): Promise<T> {
  const context = await within(
    limitSeconds,
    'the browser opened no page',
    browser.newContext({ viewport: { width: 1_440, height }, locale: 'en-US' }),
  )
  try {
    context.setDefaultTimeout(limitSeconds * 1_000)
    if (cookie) await context.addCookies([cookie])
    await context.addInitScript({ path: probe })
    const page = await context.newPage()
    const devtools = await context.newCDPSession(page)
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: slowdown })
    // Processor time of its main thread, which the load of the machine does not change.
    await devtools.send('Performance.enable', { timeDomain: 'threadTicks' })
    return await work(new Visit(page, devtools))
  } finally {
    await within(limitSeconds, 'the page did not close', context.close())
  }
}

/** A page, and what its probe measures. Each wait has a limit. */
export class Visit {
  readonly page: Page
  readonly #devtools: CDPSession

  constructor(page: Page, devtools: CDPSession) {
    this.page = page
    this.#devtools = devtools
  }

  /** Opens an address. Returns how long after the navigation began this was painted. */
  open(address: string, shown: Shown): Promise<Timed> {
    return this.#time(async () => {
      await this.page.addInitScript(`probe.expect(${JSON.stringify(shown)})`)
      await this.page.goto(address, { waitUntil: 'commit' })
      return this.#await('probe.painted', `${address} did not show ${describe(shown)}`)
    })
  }

  /** Clicks. Returns how much later this was painted. */
  click(selector: string, shown: Shown): Promise<Timed> {
    return this.#time(async () => {
      await this.expect(shown)
      await this.page.locator(selector).first().click()
      return this.#await('probe.sinceClick()', `a click on ${selector} did not show ${describe(shown)}`)
    })
  }

  /** Runs a script. Returns how much later this was painted. */
  act(script: string, shown: Shown): Promise<Timed> {
    const timed = `(async () => {
      const begunMs = performance.now()
      ${script}
      probe.expect(${JSON.stringify(shown)})
      return (await probe.painted) - begunMs
    })()`
    return this.#time(() => this.#await(timed, `the page did not show ${describe(shown)}`))
  }

  /** Looks from now on for something that comes by itself. */
  async expect(shown: Shown): Promise<void> {
    await this.#await(`probe.expect(${JSON.stringify(shown)})`, 'the page did not answer')
  }

  /** When it came, in milliseconds since 1970. */
  async readShownAt(shown: Shown): Promise<number> {
    const script = 'probe.painted.then((ms) => performance.timeOrigin + ms)'
    return this.#await(script, `the page did not show ${describe(shown)}`)
  }

  readFirstPaint(): Promise<number> {
    const script = `(async () => {
      while (probe.readFirstPaint() === undefined) await new Promise((resolve) => setTimeout(resolve, 10))
      return probe.readFirstPaint()
    })()`
    return this.#await(script, 'the page painted nothing')
  }

  /** The longest animation frame since the page began, or since `forget`. Frames below 50 ms count as 0. */
  readMaxFrame(): Promise<number> {
    return this.#await('probe.readMaxFrame()', 'the page did not say how long its frames were')
  }

  /** The longest task of the page's main thread while `work` runs, and the most processor time of one. */
  async readMaxTask(work: () => Promise<unknown>): Promise<Timed> {
    const browser = this.page.context().browser()!
    await browser.startTracing(this.page, { categories: ['toplevel'] })
    let trace: Buffer
    try {
      await work()
    } finally {
      trace = await within(limitSeconds, 'the trace did not end', browser.stopTracing())
    }
    return findMaxTask(trace)
  }

  /** The interactions that took at least 16 ms until the next paint, in milliseconds. */
  readInteractions(): Promise<number[]> {
    return this.#await('probe.readInteractions()', 'the page did not list its interactions')
  }

  /** The highest and the lowest drawn row of each chart, as shares of its height in pixels. */
  readDrawn(): Promise<({ top: number; bottom: number; height: number } | null)[]> {
    return this.#await('probe.readDrawn()', 'the page did not read its charts')
  }

  /** Forgets what kept the page busy, and its interactions. */
  async forget(): Promise<void> {
    await this.#await('probe.forget()', 'the page did not answer')
  }

  /** What the page's JavaScript holds after a garbage collection, in MB. */
  async readHeapMb(): Promise<number> {
    await within(limitSeconds, 'the page collected no garbage', this.#devtools.send('HeapProfiler.collectGarbage'))
    const usage = await within(limitSeconds, 'the page has no heap', this.#devtools.send('Runtime.getHeapUsage'))
    return usage.usedSize / 1e6
  }

  async #time(work: () => Promise<number>): Promise<Timed> {
    const before = await this.#readCpuMs()
    const ms = await work()
    const after = await this.#readCpuMs()
    // A page in another process begins at 0.
    return { ms, cpuMs: after >= before ? after - before : after }
  }

  async #readCpuMs(): Promise<number> {
    const answer = this.#devtools.send('Performance.getMetrics')
    const { metrics } = await within(limitSeconds, 'the page did not say what it computed', answer)
    return metrics.find(({ name }) => name === 'TaskDuration')!.value * 1_000
  }

  async #await<T>(script: string, sentence: string): Promise<T> {
    return within(limitSeconds, sentence, this.page.evaluate<T>(script))
  }
}

interface TraceEvent {
  name: string
  ph: string
  pid: number
  tid: number
  /** In microseconds. */
  dur?: number
  tdur?: number
  args: { name?: string }
}

/** Of all renderers: only those of the page that is open have long tasks. */
function findMaxTask(trace: Buffer): Timed {
  const { traceEvents: events } = JSON.parse(trace.toString()) as { traceEvents: TraceEvent[] }
  const threadOf = ({ pid, tid }: TraceEvent) => `${pid}/${tid}`
  const isMain = ({ name, args }: TraceEvent) => name === 'thread_name' && args.name === 'CrRendererMain'
  const mains = new Set(events.filter(isMain).map(threadOf))
  const tasks = events.filter(
    (event) => event.name.endsWith('RunTask') && event.ph === 'X' && mains.has(threadOf(event)),
  )
  const findMax = (figure: 'dur' | 'tdur') => tasks.reduce((max, task) => Math.max(max, task[figure] ?? 0), 0) / 1_000
  return { ms: findMax('dur'), cpuMs: findMax('tdur') }
}

function describe({ selector, text, count = 1, heading, drawn = false }: Shown): string {
  const named = text === undefined ? selector : `${selector} with "${text}"`
  const under = heading === undefined ? '' : ` under the heading "${heading}"`
  return `${count > 1 ? `${count} of ` : ''}${named}${under}${drawn ? ' and its charts' : ''}`
}
