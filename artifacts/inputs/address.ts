/** The parsed address of training data. It may not exist. */
export type InputAddress =
  | { kind: 'artifact'; entity: string; project: string; name: string; version: number | 'latest' }
  | { kind: 'stored'; uri: string }
  | { kind: 'web'; url: string }
  | { kind: 's3'; bucket: string; key: string }

/** An invalid training data address. The message is for the user, and contains no secrets from the address. */
export class InputError extends Error {
  override name = 'InputError'
  readonly reason: 'InputNotAllowed' | 'InputNotFound' | 'InputTooLarge' | 'InputDigestMismatch' | 'InputExceedsQuota'

  constructor(reason: InputError['reason'], message: string) {
    super(message)
    this.reason = reason
  }
}

const maxAddressLength = 4096
const namePattern = '[A-Za-z0-9][A-Za-z0-9._-]{0,127}'
const artifactPattern = new RegExp(
  `^wandb-artifact:///(${namePattern})/(${namePattern})/(${namePattern})(?::([^:/]+))?$`,
)
// S3 keys are any text of up to 1,024 bytes. Real keys contain no control characters and no dot segments.
// oxlint-disable-next-line no-control-regex -- they are what must not be in it
const s3Pattern = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])\/([^\u0000-\u0020\u007f\\?#]{1,1024})$/

/**
 * Reads the address of training data, as a REST body or a TrainingJob names it.
 *
 * @throws {InputError}
 */
export function readInputAddress(address: string): InputAddress {
  if (address.length > maxAddressLength) throw addressError(`it is longer than ${maxAddressLength} characters`)
  const scheme = /^[a-z0-9+.-]+(?=:)/i.exec(address)?.[0].toLowerCase()
  if (scheme === 'wandb-artifact') return readArtifact(address)
  if (scheme === 'artifact') return { kind: 'stored', uri: address }
  if (scheme === 's3') return readS3(address)
  if (scheme === 'https' || scheme === 'http') return { kind: 'web', url: address }
  throw addressError(
    'give an address such as wandb-artifact:///ENTITY/PROJECT/NAME:v0, https://..., or s3://BUCKET/KEY',
  )
}

/** The number of `v3`. `latest` and an absent version are the newest one. Undefined for an invalid version. */
export function readVersion(text: string | undefined): number | 'latest' | undefined {
  if (text === undefined || text === 'latest') return 'latest'
  return /^v(0|[1-9]\d{0,8})$/.test(text) ? Number(text.slice(1)) : undefined
}

function readArtifact(address: string): InputAddress {
  const [, entity, project, name, given] = artifactPattern.exec(address) ?? []
  if (!entity || !project || !name)
    throw addressError('an artifact address has the form wandb-artifact:///ENTITY/PROJECT/NAME:v0')
  const version = readVersion(given)
  if (version === undefined) throw addressError('a version of an artifact is v0, v1, ... or latest')
  return { kind: 'artifact', entity, project, name, version }
}

function readS3(address: string): InputAddress {
  const [, bucket, key] = s3Pattern.exec(address) ?? []
  if (!bucket || !key || key.split('/').some((part) => part === '.' || part === '..')) {
    throw addressError('an object address has the form s3://BUCKET/KEY')
  }
  return { kind: 's3', bucket, key }
}

function addressError(reason: string): InputError {
  return new InputError('InputNotAllowed', reason)
}
