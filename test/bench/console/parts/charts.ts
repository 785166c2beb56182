import type { Page } from 'playwright-core'
import { chartedKeys, spikesOf } from '../data/run.ts'
import type { Part } from '../part.ts'
import { nameTimed, visit, type Visit } from '../visit.ts'

/** The charts of a run with a million gradient steps. */
export const charts: Part = {
  prepare: async ({ browser, cookie, data }) => {
    const run = await data.run()
    // By step, a run has a hundred places. By gradient step, its last values are near the millionth.
    const all = { selector: '[role=img][aria-label*="gradient step 999"]', count: chartedKeys.length, drawn: true }
    return async (slowdown) => {
      const options = { slowdown, cookie, height: 1_600 }
      const open = await visit(browser, options, (page) => page.open(`${run}?x=gradient+step`, all))
      return visit(browser, options, async (page) => {
        await page.open(run, { selector: 'figcaption b', count: chartedKeys.length, drawn: true })
        const answers = collectAnswers(page.page)
        const click = await page.click('text="gradient step"', all)
        const lost = await countLostSpikes(page, await answers())
        return { ...nameTimed('charts_open', open), ...nameTimed('charts_click', click), charts_lost_spikes: lost }
      })
    }
  },
}

interface Answer {
  metrics: { key: string; source: string; envelope?: { min: number[]; max: number[] } }[]
}

/** Collects the metrics that the page gets from now on. */
function collectAnswers(page: Page): () => Promise<Answer[]> {
  const answers: Promise<Answer>[] = []
  page.on('response', (response) => {
    if (/\/metrics\?.*x=index/.test(response.url())) answers.push(response.json() as Promise<Answer>)
  })
  return () => Promise.all(answers)
}

/**
 * Each metric has one value that is far above all others, and one far below. The page must have got both, and drawn them:
 * a chart leaves 8 % of its range free above its greatest value and below its least.
 */
async function countLostSpikes(page: Visit, answers: readonly Answer[]): Promise<number> {
  const drawn = await page.readDrawn()
  const metrics = answers.flatMap((answer) => answer.metrics).filter(({ source }) => source === 'gradient')
  let lost = 0
  for (const [at, key] of chartedKeys.entries()) {
    const { high, low } = spikesOf(key)
    const envelope = metrics.find((metric) => metric.key === key)?.envelope
    const [chart, margin] = [drawn[at], 0.08 / 1.16]
    const isAt = (place: number, wanted: number) => Math.abs(place - wanted) * (chart?.height ?? 0) <= 2
    if (!envelope || !chart || Math.max(...envelope.max) !== high || !isAt(chart.top, margin)) lost++
    if (!envelope || !chart || Math.min(...envelope.min) !== low || !isAt(chart.bottom, 1 - margin)) lost++
  }
  return lost
}
