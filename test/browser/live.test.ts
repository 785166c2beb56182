import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { useBrowser } from '../support/browser.ts'
import { openSeverableProxy } from '../support/severable-proxy.ts'
import { useStack } from '../support/stack.ts'
import { rollOut, trainRun } from './demo.ts'
import { createRun, useWorld, type TestRun } from './world.ts'

const stack = useStack()
const world = useWorld(stack)
const browser = useBrowser()

let run: TestRun
let ofRun: string

beforeAll(async () => {
  run = await createRun(world, stack, 'demo', 'live-run')
  await trainRun(run, 2)
  ofRun = `/${world.entity}/demo/runs/${run.name}`
})

const chartOf = (page: Page, metric: string) =>
  page.getByRole('figure').filter({ has: page.getByRole('heading', { name: metric, exact: true }) })
const newest = (page: Page, metric: string) => chartOf(page, metric).getByRole('listitem').last()

describe('a run', () => {
  test('draws gradient steps while they arrive, and a click on a point opens its trajectories', async () => {
    const page = await browser.open({ url: world.server.url, path: ofRun, key: world.key })
    await page.getByText('Live', { exact: true }).waitFor()
    await run.queue(rollOut(2, 4))
    const job = await run.claim(4)
    await page.getByText('Running').waitFor()
    const loss = newest(page, 'loss')
    const begunMs = performance.now()
    await job.step({ loss: 7.25 })
    await loss.getByText('7.25').waitFor()
    // The goal is a second. A loaded machine may take ten times as long.
    expect(performance.now() - begunMs).toBeLessThan(10_000)
    await job.step({ loss: 8.25 })
    await loss.getByText('8.25').waitFor()
    // Its point is at the right end. Its trajectories have their step as soon as there is a checkpoint.
    await clickPoint(page, 1)
    await page.getByText('No trajectories at step 3').waitFor()
    expect(new URL(page.url()).search).toBe('?step=3')
    await job.finish({ loss: 7.75, reward: 0.9 })
    await page.getByText('in 6 groups').waitFor()
    await page.getByText('3 of 3').waitFor()
  })

  /** Clicks into the chart of the loss, at this share of its width. */
  async function clickPoint(page: Page, share: number) {
    const plot = chartOf(page, 'loss').locator('.u-over')
    const { width, height } = (await plot.boundingBox())!
    await plot.click({ position: { x: Math.min(width - 2, width * share), y: height / 2 } })
  }
})

test('a stream that is cut is shown as lost, and catches up when the server is back', async () => {
  const { port, hostname } = new URL(world.server.url)
  const way = await openSeverableProxy({ host: hostname, port: Number(port) })
  try {
    const url = `http://127.0.0.1:${way.port}`
    const page = await browser.open({ url, path: `/${world.entity}/demo/runs`, key: world.key, faults: /ERR_/ })
    await page.getByText('Live', { exact: true }).waitFor()
    way.cut()
    await page.getByText('Live updates lost').waitFor()
    await createRun(world, stack, 'demo', 'made-meanwhile')
    expect(await page.getByText('made-meanwhile').count()).toBe(0)
    way.mend()
    await page.getByText('made-meanwhile').waitFor()
    await page.getByText('Live', { exact: true }).waitFor()
    await createRun(world, stack, 'demo', 'made-afterwards')
    await page.getByText('made-afterwards').waitFor()
  } finally {
    await way.close()
  }
})
