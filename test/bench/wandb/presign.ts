import type { S3Client } from '@aws-sdk/client-s3'

/** Signs as the SDK's own addresses are signed, whose package is none of ours. */
interface Presigner {
  presign: (request: object, options: { expiresIn: number }) => Promise<{ query: Record<string, string> }>
}

/** The address of an object. It needs no header of authorization for an hour. */
export async function presign(
  client: S3Client,
  endpoint: string,
  { method, path }: { method: string; path: string },
): Promise<string> {
  const { hostname, port, host } = new URL(endpoint)
  const signer = (await client.config.signer()) as unknown as Presigner
  const headers = { host, 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' }
  const request = { method, path, protocol: 'http:', hostname, port: Number(port), headers, query: {} }
  const { query } = await signer.presign(request, { expiresIn: 3_600 })
  return `${endpoint}${path}?${new URLSearchParams(query).toString()}`
}
