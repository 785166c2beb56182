import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { beforeAll, describe, test } from 'vitest'
import { useBrowser } from '../support/browser.ts'
import { useStack } from '../support/stack.ts'
import { makeDemo, type Demo } from './demo.ts'
import { useWorld } from './world.ts'

const folder = path.join(import.meta.dirname, '..', '..', 'docs', 'images', 'console')

/** The pictures of the README: each with its path below the project, and a text that is there when it is complete. */
const pictures: readonly { name: string; theme: 'light' | 'dark'; place: (demo: Demo) => string; shows: string }[] = [
  { name: 'overview', theme: 'light', place: () => '', shows: 'Last runs' },
  { name: 'runs', theme: 'dark', place: () => '/runs', shows: '3 runs' },
  { name: 'charts', theme: 'light', place: ({ run }) => `/runs/${run.name}`, shows: 'entropy' },
  {
    name: 'compare',
    theme: 'dark',
    place: ({ run }) => `/compare?runs=${run.name},other-20261121050211`,
    shows: 'entropy',
  },
  {
    name: 'trajectories',
    theme: 'dark',
    place: ({ run, trajectory }) => `/runs/${run.name}/trajectories?step=6&split=train&peek=${trajectory}`,
    shows: 'You answer in one short sentence.',
  },
  {
    name: 'trajectory',
    theme: 'light',
    place: ({ run, trajectory }) => `/runs/${run.name}/trajectories/${trajectory}`,
    shows: 'The same prompt at other steps',
  },
  { name: 'checkpoints', theme: 'dark', place: ({ run }) => `/runs/${run.name}/checkpoints`, shows: '12 checkpoints' },
  { name: 'job', theme: 'light', place: ({ jobs }) => `/jobs/${jobs.waiting}`, shows: 'Why it waits' },
]

// npm run screenshots
describe.runIf(process.env['TRAINYARD_SCREENSHOTS'] === '1')('the pictures of the README', () => {
  const stack = useStack()
  const world = useWorld(stack, 'local')
  const browser = useBrowser()
  let demo: Demo
  beforeAll(async () => {
    demo = await makeDemo(world, stack)
    await mkdir(folder, { recursive: true })
  })

  test.each(pictures)('$name', async ({ name, theme, place, shows }) => {
    const { server, key, entity } = world
    const page = await browser.open({ url: server.url, path: `/${entity}/demo${place(demo)}`, key, theme, height: 860 })
    await page.locator('#root').getByText(shows).first().waitFor()
    await page.getByText('Live', { exact: true }).waitFor()
    await page.waitForLoadState('networkidle').catch(() => {})
    await page.waitForTimeout(500)
    await page.screenshot({ path: path.join(folder, `${name}.png`) })
  })
})
