import { ConfigError } from '../config.ts'
import type { ReadObject } from './bucket-reader.ts'
import { createOutbound, type Outbound } from './outbound.ts'

interface OutboundConfig {
  TRAINYARD_DATA_HOSTS: string
  TRAINYARD_WEBHOOK_HOSTS: string
  TRAINYARD_PRIVATE_NETWORKS: string
}

interface DataConfig extends OutboundConfig {
  TRAINYARD_UPLOAD_LIMIT_BYTES: number
  TRAINYARD_ARTIFACTS: string
  TRAINYARD_S3_ENDPOINT?: string
  TRAINYARD_S3_REGION?: string
  TRAINYARD_S3_KEY_FOLDER?: string
}

/** The sources of data that users name: hosts and buckets. */
export interface DataSources {
  outbound: Outbound
  buckets: ReadonlySet<string>
  /** Uses the credentials of the artifact store; undefined if the store is a folder. */
  readObject: ReadObject | undefined
  maxBytes: number
}

const bucketPattern = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])$/

/** @throws {ConfigError} */
export async function openDataSources(config: DataConfig): Promise<DataSources> {
  const entries = splitList(config.TRAINYARD_DATA_HOSTS)
  const buckets = new Set(entries.map((entry) => bucketPattern.exec(entry)?.[1] ?? ''))
  buckets.delete('')
  const own = /^s3:\/\/([^/]+)/.exec(config.TRAINYARD_ARTIFACTS)?.[1] ?? ''
  // The credentials of the store can read the data of all tenants.
  if (buckets.has(own)) {
    throw new ConfigError("bad configuration: TRAINYARD_DATA_HOSTS must not have the artifact store's own bucket")
  }
  const hosts = entries.filter((entry) => !bucketPattern.test(entry))
  const outbound = createOutbound({ hosts, privateNetworks: listPrivateNetworks(config) })
  return { outbound, buckets, readObject: await openBuckets(config), maxBytes: config.TRAINYARD_UPLOAD_LIMIT_BYTES }
}

async function openBuckets(config: DataConfig): Promise<ReadObject | undefined> {
  if (!config.TRAINYARD_ARTIFACTS.startsWith('s3://')) return undefined
  // Amazon's library is large: only a process with a bucket has it.
  const [{ createS3Client }, { createBucketReader }] = await Promise.all([
    import('../s3-client.ts'),
    import('./bucket-reader.ts'),
  ])
  const { TRAINYARD_S3_ENDPOINT: endpoint, TRAINYARD_S3_REGION: region, TRAINYARD_S3_KEY_FOLDER: keyFolder } = config
  return createBucketReader(createS3Client({ endpoint, region, keyFolder }))
}

/** Creates the Outbound for webhooks. @throws {ConfigError} */
export function openWebhooks(config: OutboundConfig): Outbound {
  return createOutbound({
    hosts: splitList(config.TRAINYARD_WEBHOOK_HOSTS),
    privateNetworks: listPrivateNetworks(config),
  })
}

/** Creates the Outbound for one address of the administrator, such as a hub of models. @throws {ConfigError} */
export function openEndpoint(endpoint: string, config: OutboundConfig): Outbound {
  return createOutbound({ hosts: [new URL(endpoint).origin], privateNetworks: listPrivateNetworks(config) })
}

/** The listed networks, for other checks of the same process. */
export function listPrivateNetworks(config: OutboundConfig): string[] {
  return splitList(config.TRAINYARD_PRIVATE_NETWORKS)
}

function splitList(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}
