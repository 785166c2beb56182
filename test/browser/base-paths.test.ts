import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createConsoleLink } from '../../apiserver/accounts/admin/console-command.ts'
import { serveApi, type ServedApi } from '../support/api-server.ts'
import { useBrowser } from '../support/browser.ts'
import { openSeverableProxy, type SeverableProxy } from '../support/severable-proxy.ts'
import { useStack } from '../support/stack.ts'
import { trainRun } from './demo.ts'
import { createRun, useWorld } from './world.ts'
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream/promises'

const stack = useStack()
const world = useWorld(stack)
const browser = useBrowser()
// Whoever is not logged in is reported so with this status.
const statuses = [401]
const run = 'placed-run'

beforeAll(async () => {
  await trainRun(await createRun(world, stack, 'demo', run), 2)
})

describe('below the path of a proxy', () => {
  const path = '/apps/trainyard'
  let proxy: PathProxy
  beforeAll(async () => {
    proxy = await openPathProxy(world.server.url, path)
  })
  afterAll(() => proxy.close())

  const pathOf = (page: Page) => page.url().slice(proxy.url.length)

  test('a printed link logs in, and pages, their files, requests, streams and links stay below it', async () => {
    const { entity, database } = world
    const link = await createConsoleLink(database.pool, { entity, role: 'admin', url: proxy.url })
    const asked: string[] = []
    const url = new URL(proxy.url).origin
    const page = await browser.open({ url, path: link.slice(url.length), statuses })
    page.on('request', (sent) => asked.push(sent.url()))
    await page.getByRole('link', { name: 'demo' }).click()
    expect(pathOf(page)).toBe(`/${entity}/demo`)
    const home = `${path}/${entity}/demo`
    await page.getByText('Live', { exact: true }).waitFor()
    await page.getByRole('link', { name: run }).click()
    await page.getByRole('link', { name: 'Checkpoints' }).click()
    await page.getByText('2 checkpoints').waitFor()
    const archive = await page.getByRole('link', { name: 'Download' }).first().getAttribute('href')
    expect(archive).toMatch(/^\/apps\/trainyard\/v1\/preview\/models\/.+\/archive$/)
    await page.reload()
    await page.getByText('2 checkpoints').waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').fill(run)
    await page.getByRole('option', { name: run }).click()
    await page.waitForURL(`${proxy.url}/${entity}/demo/runs/${run}`)
    await page.getByTitle('Show as a command').click()
    await page.getByText(`${proxy.url}/v1/preview/models`).first().waitFor()
    expect(asked.filter((address) => !address.startsWith(`${proxy.url}/`))).toEqual([])
    expect(asked.some((address) => address.startsWith(`${proxy.url}/v1/preview/stream`))).toBe(true)
    expect(new URL(page.url()).pathname).toBe(`${home}/runs/${run}`)
  })

  test('the login leads back to the page that was asked for', async () => {
    const { entity, key } = world
    const address = `/${entity}/demo/runs?q=placed`
    const page = await browser.open({ url: new URL(proxy.url).origin, path: path + address, statuses })
    await page.getByLabel('API key').fill(key)
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: run }).waitFor()
    expect(pathOf(page)).toBe(address)
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.waitForURL(`${proxy.url}/login`)
  })

  test('the reference of the API has its files', async () => {
    const page = await browser.open({ url: new URL(proxy.url).origin, path: `${path}/docs` })
    await page.getByText('List projects by name').waitFor()
  })
})

describe('behind a port-forward', () => {
  let server: ServedApi
  let way: SeverableProxy
  beforeAll(async () => {
    const publicUrl = { TRAINYARD_PUBLIC_URL: 'https://train.example/yard' }
    server = await serveApi(stack, world.database.databaseUrl, publicUrl)
    const { hostname, port } = new URL(server.url)
    way = await openSeverableProxy({ host: hostname, port: Number(port) })
  })
  afterAll(async () => {
    await way?.close()
    await server?.remove()
  })

  test.each(['127.0.0.1', 'localhost'])(
    'as %s and another port, a person reads and changes what a server of another public address has',
    async (host) => {
      const url = `http://${host}:${way.port}`
      const page = await browser.open({ url, path: `/${world.entity}/demo`, statuses })
      await page.getByLabel('API key').fill(world.key)
      await page.keyboard.press('Enter')
      await page.getByText('Live', { exact: true }).waitFor()
      await page.goto(`/${world.entity}/demo/runs/${run}/checkpoints`)
      await page.getByRole('button', { name: 'Alias' }).first().click()
      const alias = `by-${host.replaceAll('.', '-')}`
      await page.getByLabel('Alias', { exact: true }).fill(alias)
      await page.keyboard.press('Enter')
      await page.getByText(alias).first().waitFor()
    },
  )
})

/** A reverse proxy that has a server below a path, as an ingress that removes the path. */
interface PathProxy {
  /** The address of the server, with the path. */
  url: string
  close: () => Promise<void>
}

/** Opens one on a free port of 127.0.0.1. It answers 404 at all other paths. */
async function openPathProxy(target: string, path: string): Promise<PathProxy> {
  const proxy = createServer((incoming, answer) => {
    const { method, headers, url = '' } = incoming
    if (!url.startsWith(`${path}/`)) {
      answer.writeHead(404).end()
      return
    }
    const outgoing = request(new URL(url.slice(path.length), target), { method, headers }, (response) => {
      answer.writeHead(response.statusCode!, response.headers)
      pipeline(response, answer).catch(() => {})
    })
    // A client that leaves a stream ends it at the server too.
    answer.on('close', () => outgoing.destroy())
    pipeline(incoming, outgoing).catch(() => answer.destroy())
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}${path}`,
    close: async () => {
      proxy.closeAllConnections()
      proxy.close()
      await once(proxy, 'close')
    },
  }
}
