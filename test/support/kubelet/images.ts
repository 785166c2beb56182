import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { parse } from 'yaml'
import { makeBaseImages, nameOf } from '../images/base-images.ts'
import { readBake, repository } from '../images/bake.ts'
import { buildTarget } from '../images/build-target.ts'
import { buildImage, imagesFolder, installBuildah, saveImage } from '../images/buildah.ts'
import { pauseImage } from './configs.ts'

/** The packages of engines and trainers. Each container sees those of this machine's environment in their place. */
export const pythonFolder = '/opt/python/lib'

/** Builds the images that an installation of the chart needs. Returns the files that a node imports. */
export async function makeNodeImages(): Promise<string[]> {
  await installBuildah()
  await makeBaseImages()
  const chart = await readChart('Chart.yaml')
  const tag = chart['appVersion'] as string
  const { images } = (await readChart('values.yaml')) as { images: { postgres: { repository: string; tag: string } } }
  const args = { WITHOUT: await listLargePackages() }
  return [
    await save(await buildTarget('control'), `ghcr.io/trainyard/control:${tag}`),
    await save(await buildTarget('engine-cpu', { args }), `ghcr.io/trainyard/engine-cpu:${tag}`),
    await save(await buildTarget('trainer-cpu', { args }), `ghcr.io/trainyard/trainer-cpu:${tag}`),
    await save(await buildPostgres(), `${images.postgres.repository}:${images.postgres.tag}`),
    await save(await buildPause(), pauseImage),
  ]
}

async function readChart(file: string): Promise<Record<string, unknown>> {
  return parse(await readFile(path.join(repository, 'helm', 'trainyard', file), 'utf8')) as Record<string, unknown>
}

/** The Python environment has several gigabytes, so that images get one package of it. */
async function listLargePackages(): Promise<string> {
  const lines = (await readFile(path.join(repository, 'trainer', 'requirements.in'), 'utf8')).split('\n')
  const names = lines.filter((line) => /^\w/.test(line)).map((line) => line.split('==')[0]!)
  return names.filter((name) => name !== 'msgspec').join('|')
}

async function buildPostgres(): Promise<string> {
  const tag = 'localhost/postgres:test'
  const context = path.join(import.meta.dirname, 'postgres')
  const args = { DEBIAN: debian() }
  await buildImage({ tag, dockerfile: path.join(context, 'Dockerfile'), context, args })
  return tag
}

/** The process that holds the namespaces of a pod. */
async function buildPause(): Promise<string> {
  const context = path.join(imagesFolder, 'pause')
  await mkdir(context, { recursive: true })
  const dockerfile = path.join(context, 'Dockerfile')
  await writeFile(dockerfile, `FROM ${debian()}\nCMD ["sleep", "infinity"]\n`)
  await buildImage({ tag: pauseImage, dockerfile, context })
  return pauseImage
}

function debian(): string {
  return nameOf(readBake().variable['DEBIAN']!.default)
}

async function save(tag: string, name: string): Promise<string> {
  const file = path.join(imagesFolder, `${name.replaceAll(/[^\w.-]/g, '_')}.tar`)
  await saveImage(tag, { file, name })
  return file
}
