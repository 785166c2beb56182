import { cp, mkdir, rm, writeFile } from 'node:fs/promises'
import { realpath } from 'node:fs/promises'
import path from 'node:path'
import { isComplete, moveWithStamp } from '../../../local/install/stamp.ts'
import { runChild } from '../../../local/install/run-child.ts'
import { readBake } from './bake.ts'
import { buildImage, imagesFolder, runWithBuildah } from './buildah.ts'

// What Debian's slim images leave out.
const left = ['doc', 'man', 'info', 'locale', 'groff', 'lintian'].map(
  (name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`,
)
const release = 'bookworm'
const archive = path.join(imagesFolder, `debian-${release}-slim.tar`)
const certificates = '/etc/ssl/certs/ca-certificates.crt'
// The machine may trust more authorities than its programs do.
const trustMachine = [`COPY ca-certificates.crt ${certificates}`]

/** Debian, for images whose build downloads Python packages. */
export const pythonBase = 'localhost/debian-python:test'

/**
 * Makes images that stand for the bases of `helm/images/bake.json`, under their names: no registry is needed. Debian comes from
 * its packages, Node and npm from this machine.
 */
export async function makeBaseImages(): Promise<void> {
  const { NODE, DEBIAN } = readBake().variable
  await makeDebianArchive()
  await buildFolder('debian', DEBIAN!.default, { files: [archive], steps: [`ADD ${path.basename(archive)} /`] })
  await buildFolder('node', NODE!.default, {
    base: nameOf(DEBIAN!.default),
    files: [process.execPath, await findNpm(), certificates],
    steps: [
      'COPY node /usr/local/bin/node',
      'COPY npm /usr/local/lib/node_modules/npm',
      'RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm',
      ...trustMachine,
      `ENV NODE_EXTRA_CA_CERTS=${certificates}`,
    ],
  })
  await buildFolder('python', pythonBase, {
    base: nameOf(DEBIAN!.default),
    files: [certificates],
    // Debian's package ca-certificates adds the file to those that it trusts. pip and uv have authorities of their own.
    steps: [
      ...trustMachine,
      `COPY ca-certificates.crt /usr/local/share/ca-certificates/machine.crt`,
      `ENV PIP_CERT=${certificates} SSL_CERT_FILE=${certificates} UV_HTTP_TIMEOUT=300`,
    ],
  })
}

/** The name of a base without its digest: an image that was made here has another one. */
export function nameOf(reference: string): string {
  return reference.split('@')[0]!
}

async function makeDebianArchive(): Promise<void> {
  if (await isComplete(archive)) return
  const temporary = `${archive}.tmp`
  const options = ['--variant=minbase', '--mode=root', '--format=tar', ...left]
  const { code, tail } = await runWithBuildah(['mmdebstrap', ...options, release, temporary])
  if (code !== 0) throw new Error(`mmdebstrap failed: ${tail}`)
  await moveWithStamp(temporary, archive, 'made by mmdebstrap')
}

interface Folder {
  base?: string
  files: string[]
  steps: string[]
}

async function buildFolder(name: string, reference: string, { base = 'scratch', files, steps }: Folder): Promise<void> {
  const context = path.join(imagesFolder, `base-${name}`)
  await rm(context, { recursive: true, force: true })
  await mkdir(context)
  for (const file of files) await cp(file, path.join(context, path.basename(file)), { recursive: true })
  const dockerfile = path.join(context, 'Dockerfile')
  await writeFile(dockerfile, [`FROM ${base}`, ...steps, ''].join('\n'))
  await buildImage({ tag: nameOf(reference), dockerfile, context })
  await rm(context, { recursive: true })
}

/** The folder of the npm in the search path. */
async function findNpm(): Promise<string> {
  const { code, stdout } = await runChild('sh', ['-c', 'command -v npm'])
  if (code !== 0) throw new Error('npm is not in the search path')
  return path.resolve(await realpath(stdout.trim()), '..', '..')
}
