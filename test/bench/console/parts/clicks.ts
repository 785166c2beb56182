import { median, percentile } from '../../result.ts'
import type { Part } from '../part.ts'
import { visit, type Shown } from '../visit.ts'

interface Step {
  click: string
  shown: Shown
  /** It leads to another screen. */
  isScreen?: true
}

// Below that, the browser does not report an interaction.
const minReportedMs = 16

const screen = (click: string, shown: Shown): Step => ({ click, shown, isScreen: true })

/** A way through the screens of a run of a million gradient steps. Its project is called "runs", so texts of links are whole. */
const throughRun: readonly Step[] = [
  screen('nav[aria-label=Project] >> text="Runs"', { selector: '[role=cell] a', text: 'million', heading: 'Runs' }),
  screen('[role=cell] a', { selector: 'figcaption h2', text: 'reward', heading: 'million' }),
  { click: 'figcaption button', shown: { selector: 'figure td' } },
  { click: 'figcaption button', shown: { selector: 'figure canvas' } },
  { click: 'text="gradient step"', shown: { selector: '[role=img][aria-label*="gradient step 999"]' } },
  screen('nav[aria-label=Run] >> text="Jobs"', { selector: 'p, [role=status]', text: '100 jobs' }),
  screen('nav[aria-label=Run] >> text="Checkpoints"', { selector: 'h2', text: 'No checkpoints' }),
  screen('nav[aria-label=Run] >> text="Charts"', { selector: 'figcaption h2', text: 'reward' }),
  { click: 'text="dark"', shown: { selector: 'html' } },
  { click: 'text="light"', shown: { selector: 'html' } },
  screen('nav[aria-label=Project] >> text="Overview"', { selector: 'h2', text: 'Last runs' }),
  screen('nav[aria-label=Project] >> text="Playground"', { selector: 'h1', heading: 'Playground' }),
]

/** A way through the screens of a project with 100,000 calls. */
const throughCalls: readonly Step[] = [
  screen('nav[aria-label=Project] >> text="Traces"', { selector: '[role=cell] button', heading: 'Traces' }),
  screen('text="All calls"', { selector: '[role=cell] button', heading: 'Calls' }),
  { click: '[role=columnheader] >> text=Latency', shown: { selector: '[aria-sort] button', text: 'Latency' } },
  { click: '[role=columnheader] >> text=Started', shown: { selector: '[aria-sort] button', text: 'Started' } },
  { click: '[aria-rowindex="2"] [role=cell] button', shown: { selector: 'aside h2' } },
  { click: '[aria-rowindex="4"] [role=cell] button', shown: { selector: '[aria-rowindex="4"][data-selected=true]' } },
  { click: 'aside [aria-label=Close]', shown: { selector: 'main:not(:has(aside))' } },
  { click: 'button:has-text("Columns")', shown: { selector: '[popover]:popover-open' } },
  { click: '[popover]:popover-open label >> nth=0', shown: { selector: '[role=columnheader]' } },
  screen('nav[aria-label=Entity] >> text="Usage"', { selector: 'h1', heading: 'Usage' }),
  screen('nav[aria-label=Entity] >> text="Settings"', { selector: '[role=table][aria-label=Keys]' }),
  screen('text="Limits"', { selector: 'main', text: 'Unfinished jobs' }),
]

/** Clicks through the console. Each click must paint something soon, and a new screen its data. */
export const clicks: Part = {
  prepare: async ({ browser, cookie, data }) => {
    const run = await data.run()
    const calls = await data.calls()
    return async (slowdown) => {
      const walk = (address: string, steps: readonly Step[]) =>
        visit(browser, { slowdown, cookie }, async (page) => {
          await page.open(address, { selector: '#content h1' })
          const screensMs: number[] = []
          for (const { click, shown, isScreen } of steps) {
            const { ms } = await page.click(click, shown)
            if (isScreen) screensMs.push(ms)
          }
          const reported = await page.readInteractions()
          const others = Math.max(0, steps.length - reported.length)
          return { screensMs, paintsMs: [...reported, ...Array.from({ length: others }, () => minReportedMs)] }
        })
      const walks = [await walk(run.replace(/\/runs\/million$/, ''), throughRun), await walk(calls, throughCalls)]
      return {
        click_p95_ms: percentile(
          walks.flatMap(({ paintsMs }) => paintsMs),
          0.95,
        ),
        screen_change_ms: median(walks.flatMap(({ screensMs }) => screensMs)),
      }
    }
  },
}
