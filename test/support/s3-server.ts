import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { startChildProgram } from './child-program.ts'
import { findFreePort } from './free-port.ts'
import { installGoTool } from './go-tool.ts'

/** A running S3 server with one bucket, on loopback. */
export interface S3Server {
  endpoint: string
  bucket: string
  port: number
  /** AWS's variables for its one account */
  credentials: { AWS_ACCESS_KEY_ID: string; AWS_SECRET_ACCESS_KEY: string }
  /** where the bucket's objects lie as files */
  folder: string
  stop: () => Promise<void>
}

/** Starts a server in a temporary folder. */
export async function startS3Server(): Promise<S3Server> {
  const program = await installS3Server()
  const root = await mkdtemp(path.join(tmpdir(), 's3-server-'))
  const bucket = 'artifacts'
  // This folder has the metadata of objects, because not every temporary folder supports extended attributes.
  for (const name of ['metadata', `buckets/${bucket}`]) await mkdir(path.join(root, name), { recursive: true })
  const credentials = { AWS_ACCESS_KEY_ID: 'tests', AWS_SECRET_ACCESS_KEY: randomUUID() }
  const port = await findFreePort()
  const args = ['--port', `127.0.0.1:${port}`, '--keep-alive', '--quiet', 'posix', '--sidecar']
  const endpoint = `http://127.0.0.1:${port}`
  const stop = await startChildProgram({
    command: program,
    args: [...args, path.join(root, 'metadata'), path.join(root, 'buckets')],
    env: { ROOT_ACCESS_KEY: credentials.AWS_ACCESS_KEY_ID, ROOT_SECRET_KEY: credentials.AWS_SECRET_ACCESS_KEY },
    folder: root,
    // A ready server answers an unsigned request, with an error.
    ready: () => fetch(endpoint),
    timeoutMs: 15_000,
  })
  return { endpoint, bucket, port, credentials, folder: path.join(root, 'buckets', bucket), stop }
}

/** Builds the tests' S3 server with Go from the pinned modules, or finds it in the cache. */
export function installS3Server(): Promise<string> {
  return installGoTool({ program: 'versitygw', package: 'github.com/versity/versitygw/cmd/versitygw', folder: 's3' })
}
