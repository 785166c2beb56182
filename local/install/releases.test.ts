import { expect, test } from 'vitest'
import { findChecksum, officialRelease } from './releases.ts'

const versions = { kubernetes: 'v1.36.3', etcd: 'v3.6.16', helm: 'v4.2.4', key: 'key' }
const digest = 'a'.repeat(64)

test('each program has its official address', () => {
  expect(officialRelease('kube-apiserver', versions, 'x64')).toEqual({
    url: 'https://dl.k8s.io/release/v1.36.3/bin/linux/amd64/kube-apiserver',
    checksumUrl: 'https://dl.k8s.io/release/v1.36.3/bin/linux/amd64/kube-apiserver.sha256',
  })
  expect(officialRelease('etcd', versions, 'arm64')).toEqual({
    url: 'https://github.com/etcd-io/etcd/releases/download/v3.6.16/etcd-v3.6.16-linux-arm64.tar.gz',
    checksumUrl: 'https://github.com/etcd-io/etcd/releases/download/v3.6.16/SHA256SUMS',
    member: 'etcd-v3.6.16-linux-arm64/etcd',
  })
  expect(officialRelease('helm', versions, 'x64')?.member).toBe('linux-amd64/helm')
  expect(officialRelease('etcd', versions, 'mips')).toBeUndefined()
})

test.each([
  ['a bare digest', `${digest}\n`],
  ['a list', `${'b'.repeat(64)}  other.tar.gz\n${digest}  etcd.tar.gz\n`],
  ['a list of binary files', `${digest} *etcd.tar.gz\n`],
])('the checksum is found in %s', (_, text) => {
  expect(findChecksum(text, 'etcd.tar.gz')).toBe(digest)
})

test('an error page is not a checksum', () => {
  expect(() => findChecksum('<html>', 'etcd.tar.gz')).toThrow('no published sha256 for etcd.tar.gz')
})
