import { Type } from 'typebox'
import { createOutbound, type Outbound } from './outbound.ts'

/** The variables that say whom this process may ask, for the schemas of processes that fetch for users. */
export const outboundSettings = {
  // Whose training data may be fetched: files.example.com, *.example.com, http://HOST:PORT, s3://BUCKET; with commas.
  TRAINYARD_DATA_HOSTS: Type.String({ default: '' }),
  // Who may be told by webhooks, written alike. As it is: whoever answers https outside of private networks.
  TRAINYARD_WEBHOOK_HOSTS: Type.String({ default: '*:*' }),
  // Networks such as 10.0.0.0/8 that may be asked although they are private; with commas.
  TRAINYARD_PRIVATE_NETWORKS: Type.String({ default: '' }),
}

interface OutboundConfig {
  TRAINYARD_DATA_HOSTS: string
  TRAINYARD_WEBHOOK_HOSTS: string
  TRAINYARD_PRIVATE_NETWORKS: string
}

/** What may be asked for data that users name: over HTTP, and in which buckets. */
export interface DataSources {
  outbound: Outbound
  buckets: ReadonlySet<string>
}

const bucketPattern = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])$/

/** @throws {ConfigError} */
export function openDataSources(config: OutboundConfig): DataSources {
  const entries = splitList(config.TRAINYARD_DATA_HOSTS)
  const buckets = new Set(entries.map((entry) => bucketPattern.exec(entry)?.[1] ?? ''))
  buckets.delete('')
  const hosts = entries.filter((entry) => !bucketPattern.test(entry))
  return { outbound: createOutbound({ hosts, privateNetworks: listPrivateNetworks(config) }), buckets }
}

/** The way out to webhooks. @throws {ConfigError} */
export function openWebhooks(config: OutboundConfig): Outbound {
  return createOutbound({
    hosts: splitList(config.TRAINYARD_WEBHOOK_HOSTS),
    privateNetworks: listPrivateNetworks(config),
  })
}

/** The listed networks, for other guards of the same process. */
export function listPrivateNetworks(config: OutboundConfig): string[] {
  return splitList(config.TRAINYARD_PRIVATE_NETWORKS)
}

function splitList(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}
