import { expect, test } from 'vitest'
import { listPrivateNetworks, openDataSources, openWebhooks } from './open.ts'

const others = { TRAINYARD_UPLOAD_LIMIT_BYTES: 1, TRAINYARD_ARTIFACTS: '/artifacts' }

test('hosts and buckets are listed with commas', async () => {
  const { outbound, buckets } = await openDataSources({
    TRAINYARD_DATA_HOSTS: 'files.example.com, s3://data,,http://127.0.0.1:*,s3://more.data',
    TRAINYARD_WEBHOOK_HOSTS: '',
    TRAINYARD_PRIVATE_NETWORKS: '127.0.0.0/8',
    ...others,
  })
  expect([...buckets]).toEqual(['data', 'more.data'])
  expect(outbound.check('http://127.0.0.1:1/a').href).toBe('http://127.0.0.1:1/a')
  expect(outbound.check('https://files.example.com/a').href).toBe('https://files.example.com/a')
  expect(() => outbound.check('https://data/a')).toThrow(expect.objectContaining({ rule: 'name' }))
})

test('by default no host is allowed', async () => {
  const config = { TRAINYARD_DATA_HOSTS: '', TRAINYARD_WEBHOOK_HOSTS: '', TRAINYARD_PRIVATE_NETWORKS: '', ...others }
  const { outbound } = await openDataSources(config)
  expect(() => outbound.check('https://example.com/a')).toThrow('not a host that is allowed')
  expect(listPrivateNetworks(config)).toEqual([])
})

test.each([
  ['TRAINYARD_DATA_HOSTS', 's3://bucket/key'],
  ['TRAINYARD_DATA_HOSTS', 'https://a/b'],
  ['TRAINYARD_PRIVATE_NETWORKS', '10.0.0.0'],
])('%s of %j is an invalid configuration', async (name, value) => {
  const config = {
    TRAINYARD_DATA_HOSTS: '',
    TRAINYARD_WEBHOOK_HOSTS: '',
    TRAINYARD_PRIVATE_NETWORKS: '',
    ...others,
    [name]: value,
  }
  await expect(openDataSources(config)).rejects.toThrow(expect.objectContaining({ name: 'ConfigError' }))
})

test('webhooks have their own list', () => {
  const config = { TRAINYARD_DATA_HOSTS: 'http://data.example.com', TRAINYARD_PRIVATE_NETWORKS: '', ...others }
  const webhooks = openWebhooks({ ...config, TRAINYARD_WEBHOOK_HOSTS: '*:*' })
  expect(webhooks.check('https://hooks.example.com:8443/a').port).toBe('8443')
  expect(() => webhooks.check('http://data.example.com/')).toThrow('not a host that is allowed')
})
