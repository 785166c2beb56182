import { describe, expect, test } from 'vitest'
import { createConsoleLink } from '../../apiserver/accounts/admin/console-command.ts'
import { useBrowser } from '../support/browser.ts'
import { useStack } from '../support/stack.ts'
import { useWorld } from './world.ts'

const world = useWorld(useStack())
const browser = useBrowser()
// Whoever is not logged in is told so with this status.
const statuses = [401]

describe('a person logs in', () => {
  test('with a printed link, once', async () => {
    const { entity, server, database } = world
    const link = await createConsoleLink(database.pool, { entity, role: 'member', url: server.url })
    const path = link.slice(server.url.length)
    const page = await browser.open({ url: server.url, path, statuses })
    await page.getByText('member key').waitFor()
    expect(await page.title()).toBe('Projects · Trainyard')
    // The code is in the address no more.
    expect(page.url()).toBe(`${server.url}/`)
    const second = await browser.open({ url: server.url, path, statuses })
    expect(await second.getByRole('alert').textContent()).toBe(
      'This link was used already, or is too old. Log in with a key.',
    )
  })

  test('with a key, by keyboard, and comes to the page that was asked for', async () => {
    const { entity, server, key } = world
    const page = await browser.open({ url: server.url, path: `/${entity}/some/runs?q=a`, statuses })
    const field = page.getByLabel('API key')
    await field.focus()
    await page.keyboard.type('ty_none')
    await page.keyboard.press('Enter')
    expect(await page.getByRole('alert').textContent()).toBe('This key is not valid.')
    await field.fill('')
    await page.keyboard.type(key)
    await page.keyboard.press('Enter')
    await page.getByText('No runs yet').waitFor()
    expect(page.url()).toBe(`${server.url}/${entity}/some/runs?q=a`)
    // The browser keeps the key nowhere, and scripts do not see the session.
    const kept = await page.evaluate<string>('JSON.stringify([localStorage, sessionStorage, document.cookie])')
    expect(kept).toBe('[{},{},""]')
  })

  test.each(['//evil.example', 'https://evil.example', '/\\evil.example', 'javascript:alert(1)'])(
    'and is never sent to %s',
    async (next) => {
      const { server, key } = world
      const page = await browser.open({ url: server.url, path: `/login?next=${encodeURIComponent(next)}`, statuses })
      await page.getByLabel('API key').fill(key)
      await page.keyboard.press('Enter')
      await page.getByText('admin key').waitFor()
      expect(page.url()).toBe(`${server.url}/`)
    },
  )
})
