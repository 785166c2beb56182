import type { IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import { createPublicBase } from './public-base.ts'

const ask = (headers: Record<string, string>, remoteAddress = '10.0.0.7') =>
  ({ headers, socket: { remoteAddress } }) as unknown as IncomingMessage

test.each([
  ['https://wandb.example.com', 'https://wandb.example.com'],
  ['https://example.com/tools/wandb/', 'https://example.com/tools/wandb'],
])('the configured address %s is used, whatever the headers say', (publicUrl, base) => {
  const find = createPublicBase({ publicUrl, trustedProxies: ['10.0.0.0/8'] })
  expect(find(ask({ host: 'evil.example', 'x-forwarded-host': 'evil.example' }))).toBe(base)
})

const forwarded = {
  host: 'inside:8080',
  'x-forwarded-proto': 'https',
  'x-forwarded-host': 'outside.example, inside.example',
}

test.each<[string, string[], string, string]>([
  ['no proxy is trusted', [], '10.0.0.7', 'http://inside:8080'],
  ['the sender is in a trusted network', ['10.0.0.0/8'], '10.0.0.7', 'https://outside.example'],
  ['the sender is a trusted address', ['10.0.0.7'], '10.0.0.7', 'https://outside.example'],
  ['the socket maps IPv4 into IPv6', ['10.0.0.0/8'], '::ffff:10.0.0.7', 'https://outside.example'],
  ['the sender is another', ['10.0.0.0/8'], '192.168.0.1', 'http://inside:8080'],
  ['the network is IPv6', ['fd00::/8'], 'fd00::1', 'https://outside.example'],
  ['the sender is unknown', ['10.0.0.0/8'], '', 'http://inside:8080'],
])('forwarded headers, if %s', (_, trustedProxies, sender, base) => {
  expect(createPublicBase({ publicUrl: undefined, trustedProxies })(ask(forwarded, sender))).toBe(base)
})

test.each([
  [{ host: 'a.example:8080' }, 'http://a.example:8080'],
  [{ host: '[::1]:8080' }, 'http://[::1]:8080'],
  [{ host: 'a.example/path?x=' }, 'http://localhost'],
  [{}, 'http://localhost'],
  [{ host: 'a.example', 'x-forwarded-proto': 'javascript' }, 'http://a.example'],
  [{ host: 'a.example', 'x-forwarded-host': 'b.example#' }, 'http://a.example'],
])('the Host header %o', (headers, base) => {
  expect(createPublicBase({ publicUrl: undefined, trustedProxies: ['10.0.0.7'] })(ask(headers))).toBe(base)
})

test.each(['example.com', '10.0.0.0/33', '10.0.0.0/x', ''])('%s is no network', (network) => {
  expect(() => createPublicBase({ publicUrl: undefined, trustedProxies: [network] })).toThrow(RangeError)
})
