import { describe, expect, test } from 'vitest'
import { rejectedUrls } from '../../test/support/rejected-urls.ts'
import { checkUrl } from './check-url.ts'
import { createHostList } from './hosts.ts'
import { createAddressCheck } from './networks.ts'

const rulesFor = (hosts: string[], privateNetworks: string[] = []) => ({
  listHost: createHostList(hosts),
  isOpen: createAddressCheck(privateNetworks),
})

describe('if every host may be requested over https', () => {
  const rules = rulesFor(['*:*'])

  test.each(rejectedUrls)('%j is rejected (%s): %s', (address, rule) => {
    expect(() => checkUrl(address, rules)).toThrow(expect.objectContaining({ name: 'AddressError', rule }))
  })

  test.each([
    ['https://example.com'],
    ['https://example.com/'],
    ['https://example.com:8443/data/train.jsonl'],
    ['https://EXAMPLE.com/Train.jsonl'],
    ['HTTPS://example.com/a'],
    ['https://a-b.example.com/a/b/c.jsonl?X-Amz-Credential=AK%2F20260101%2Fus&X-Amz-Signature=00ff'],
    ['https://my_bucket.s3.amazonaws.com/a...b/.hidden/..c/a%20b.jsonl'],
    ['https://xn--mnchen-3ya.de/'],
    ['https://8.8.8.8/a'],
    ['https://[2606:4700::1111]/a'],
    ['https://1.example.com/'],
    ['https://example.com/a?redirect=http://127.0.0.1/'],
    ['https://example.com/a#b'],
    ["https://example.com/a;b=c,d/(e)'f'*!~$&+=:@"],
  ])('%s is accepted', (address) => {
    expect(checkUrl(address, rules)).toBeInstanceOf(URL)
  })
})

test('an error about an address contains neither its query nor its user', () => {
  const address = 'https://someone:secret@10.0.0.1/a?token=secret'
  for (const given of [address, address.replace('someone:secret@', ''), address.replace('https', 'ftp')]) {
    expect(() => checkUrl(given, rulesFor(['*']))).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('secret') }),
    )
  }
})

test.each<[string, string[], 'taken' | 'refused']>([
  ['https://files.example.com/a', ['files.example.com'], 'taken'],
  ['https://files.example.com:443/a', ['files.example.com'], 'taken'],
  ['https://files.example.com:8443/a', ['files.example.com'], 'refused'],
  ['https://files.example.com:8443/a', ['files.example.com:8443'], 'taken'],
  ['https://files.example.com:8443/a', ['https://files.example.com:*'], 'taken'],
  ['https://files.example.com/a', ['FILES.example.com'], 'taken'],
  ['https://files.example.com/a', ['*.example.com'], 'taken'],
  ['https://a.b.example.com/a', ['*.example.com'], 'taken'],
  ['https://example.com/a', ['*.example.com'], 'refused'],
  ['https://badexample.com/a', ['*.example.com'], 'refused'],
  ['https://example.com.evil.com/a', ['example.com', '*.example.com'], 'refused'],
  ['https://files.example.com.evil.com/a', ['files.example.com'], 'refused'],
  ['https://xn--exmple-cua.com/a', ['example.com'], 'refused'],
  ['https://8.8.8.8/a', ['*.8'], 'refused'],
  ['http://files.example.com/a', ['files.example.com'], 'refused'],
  ['http://files.example.com/a', ['http://files.example.com'], 'taken'],
  ['https://files.example.com/a', ['http://files.example.com'], 'refused'],
  ['http://files.example.com:8080/a', ['http://files.example.com'], 'refused'],
  ['https://minio/a', ['*'], 'refused'],
  ['https://minio/a', ['minio'], 'taken'],
  ['https://anything.example/a', [], 'refused'],
])('%s where the list is %j is %s', (address, hosts, expected) => {
  const check = () => checkUrl(address, rulesFor(hosts))
  if (expected === 'taken') expect(check()).toBeInstanceOf(URL)
  else expect(check).toThrow(expect.objectContaining({ name: 'AddressError' }))
})

test('listed private networks are allowed, only in their canonical form', () => {
  const rules = rulesFor(['*:*', 'http://127.0.0.1:*'], ['127.0.0.0/8', 'fd00::/8'])
  for (const address of ['https://127.0.0.1/', 'http://127.0.0.1:8080/a', 'https://127.9.9.9/', 'https://[fd00::1]/'])
    expect(checkUrl(address, rules)).toBeInstanceOf(URL)
  const still = [
    'https://127.1/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::1]/',
    'https://10.0.0.1/',
    'https://localhost/',
  ]
  for (const address of still)
    expect(() => checkUrl(address, rules)).toThrow(expect.objectContaining({ name: 'AddressError' }))
})

test.each(['10.0.0.0', '10.0.0.0/33', '10.0.0/8', 'fd00::/129', 'example.com/8', '', '10.0.0.0/8 '])(
  '%j is not a network',
  (network) => {
    expect(() => createAddressCheck([network])).toThrow(expect.objectContaining({ name: 'ConfigError' }))
  },
)

test.each(['', 'ftp://a', 'https://a/b', 'a b', '*.*.com', 'a.*', 'user@a', 'https://', 'a..b', 's3://a', 'a.'])(
  '%j is not a valid entry of the list of hosts',
  (entry) => {
    expect(() => createHostList([entry])).toThrow(expect.objectContaining({ name: 'ConfigError' }))
  },
)
