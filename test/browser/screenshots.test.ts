import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { appears, useBrowser } from '../support/browser.ts'
import { useStack } from '../support/stack.ts'
import { makeDemo, trainMeasured, type Demo } from './demo.ts'
import { useWorld } from './world.ts'

interface Shown extends Demo {
  /** A run whose trajectories have token statistics. */
  measured: Awaited<ReturnType<typeof trainMeasured>>
}

const folder = path.join(import.meta.dirname, '..', '..', 'docs', 'images', 'console')

/** The pictures of README.md and docs/console.md: each with its path below the project, and a text that is there when it is complete. */
const pictures: readonly { name: string; theme: 'light' | 'dark'; pathOf: (demo: Shown) => string; shows: string }[] = [
  { name: 'overview', theme: 'light', pathOf: () => '', shows: 'Last runs' },
  { name: 'runs', theme: 'dark', pathOf: () => '/runs', shows: '4 runs' },
  { name: 'charts', theme: 'light', pathOf: ({ run }) => `/runs/${run.name}`, shows: 'entropy' },
  {
    name: 'compare',
    theme: 'dark',
    pathOf: ({ run }) => `/compare?runs=${run.name},other-20261121050211`,
    shows: 'entropy',
  },
  {
    name: 'trajectories',
    theme: 'dark',
    pathOf: ({ run, trajectory }) => `/runs/${run.name}/trajectories?step=6&split=train&peek=${trajectory}`,
    shows: 'You answer in one short sentence.',
  },
  {
    name: 'trajectory',
    theme: 'light',
    pathOf: ({ run, trajectory }) => `/runs/${run.name}/trajectories/${trajectory}`,
    shows: 'The same prompt at other steps',
  },
  {
    name: 'tokens',
    theme: 'dark',
    pathOf: ({ measured: { name, trajectories } }) => `/runs/${name}/trajectories/${trajectories[0]}?overlay=advantage`,
    shows: 'The same prompt at other steps',
  },
  {
    name: 'rises',
    theme: 'light',
    pathOf: ({ run }) => `/runs/${run.name}/trajectories?step=12&since=3`,
    shows: 'Rise',
  },
  { name: 'checkpoints', theme: 'dark', pathOf: ({ run }) => `/runs/${run.name}/checkpoints`, shows: '12 checkpoints' },
  { name: 'job', theme: 'light', pathOf: ({ jobs }) => `/jobs/${jobs.waiting}`, shows: 'Why it waits' },
]

// npm run screenshots
describe.runIf(process.env['TRAINYARD_SCREENSHOTS'] === '1')('the pictures of the documents', () => {
  const stack = useStack()
  const world = useWorld(stack, 'local')
  const browser = useBrowser()
  let demo: Shown
  beforeAll(async () => {
    demo = { ...(await makeDemo(world, stack)), measured: await trainMeasured(world, stack, 'demo') }
    await mkdir(folder, { recursive: true })
  })

  test.each(pictures)('$name', async ({ name, theme, pathOf, shows }) => {
    const { server, key, entity } = world
    const page = await browser.open({
      url: server.url,
      path: `/${entity}/demo${pathOf(demo)}`,
      key,
      theme,
      height: 860,
    })
    expect(await appears(page, shows)).toBe(true)
    await page.getByText('Live', { exact: true }).waitFor()
    await page.waitForLoadState('networkidle').catch(() => {})
    // The loss of the first token, where the tokens have statistics.
    const tokens = page.getByRole('group', { name: /^Tokens/ })
    if ((await tokens.count()) > 0) await tokens.locator('span').first().hover()
    await page.waitForTimeout(500)
    await page.screenshot({ path: path.join(folder, `${name}.png`) })
  })
})
