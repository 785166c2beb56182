import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import type { BaseModel } from '../../../crds/generated.ts'
import { uvVersion } from '../../../local/install/python-environment.ts'
import type { PodSettings } from '../../../operator/base-model/pod/common.ts'
import { buildEnginePodSpec } from '../../../operator/base-model/engine/pod.ts'
import { buildTrainerPod } from '../../../operator/base-model/trainer/pod.ts'
import { listImages, readBake, repository } from './bake.ts'
import { listCommands, listWritable, readDockerfile } from './page.ts'

const images = listImages(readBake())
const dockerfile = 'helm/images/python.Dockerfile'

interface Named {
  repository: string
}

interface ChartValues {
  images: { control: Named; engine: { cpu: Named; cuda: Named }; trainer: { cpu: Named; cuda: Named } }
}

interface Container {
  image: string
  command: string[]
  volumeMounts: { mountPath: string; readOnly?: boolean }[]
  securityContext: object
}

const volume = { volume: { emptyDir: {} } }
const bucket = { s3: { address: 's3://bucket' } }

function settingsWith(artifacts: PodSettings['artifacts']): PodSettings {
  const component = (name: string) => ({ cpu: `${name}-cpu`, cuda: `${name}-cuda` })
  const podImages = { engine: component('engine'), trainer: component('trainer') }
  const podSettings = { engineKeys: ['key'], listenOnPodIp: false, cache: { emptyDir: {} } }
  return { ...podSettings, images: podImages, pullPolicy: 'IfNotPresent', artifacts }
}

function baseModelWith(spec: Partial<BaseModel['spec']>): BaseModel {
  return {
    apiVersion: 'trainyard.dev/v1alpha1',
    kind: 'BaseModel',
    metadata: { name: 'tiny', namespace: 'trainyard' },
    spec: { names: ['tiny'], source: { path: 'models/tiny-chat' }, ...spec },
  }
}

function containerOf(spec: unknown): Container {
  return (spec as { containers: Container[] }).containers[0]!
}

function engineOf(spec: Partial<BaseModel['spec']>, artifacts: PodSettings['artifacts'] = volume): Container {
  return containerOf(buildEnginePodSpec(baseModelWith(spec), settingsWith(artifacts)))
}

function trainerOf(spec: Partial<BaseModel['spec']>, artifacts: PodSettings['artifacts'] = volume): Container {
  const pod = buildTrainerPod(baseModelWith(spec), settingsWith(artifacts), { name: 'a' })
  return containerOf((pod as { spec?: unknown }).spec)
}

describe('docs/images.md says what the operator starts', () => {
  const gpu = { resources: { limits: { 'nvidia.com/gpu': 1 } } }
  test.each([
    ['engine-cpu', [engineOf({}), engineOf({ colocated: true })]],
    ['engine-cuda', [engineOf({ engine: gpu }), engineOf({ engine: gpu, colocated: true })]],
    ['trainer-cpu', [trainerOf({})]],
    ['trainer-cuda', [trainerOf({ trainer: { gpus: 1 } }), trainerOf({ trainer: { gpus: 2 } })]],
  ])('%s', (image, containers) => {
    const started = containers.map(({ command }) => command.join(' ').split(' --nproc')[0]!)
    expect(containers.map((container) => container.image)).toEqual(containers.map(() => image))
    expect(listCommands(image)).toEqual(started)
  })

  test('and where these processes write', () => {
    const containers = [engineOf({ colocated: true }), engineOf({}, bucket), trainerOf({}), trainerOf({}, bucket)]
    const mounts = containers.flatMap(({ volumeMounts }) => volumeMounts).filter(({ readOnly }) => readOnly !== true)
    const folders = mounts.map(({ mountPath }) => mountPath).filter((folder) => folder !== '/var/run/secrets/trainyard')
    expect(listWritable('engine, trainer').toSorted()).toEqual([...new Set(folders)].toSorted())
  })
})

test.each(images)('$name has the user and the folder that docs/images.md names', ({ dockerfile: file }) => {
  expect(readDockerfile(file)).toMatchObject({ user: '1000:1000', folder: '/app' })
})

test('engines and trainers have the modules that are started, and the small model', () => {
  const commands = images.flatMap(({ name }) => (name === 'control' ? [] : listCommands(name)))
  const modules = commands.flatMap((command) => /-m (\w+)/.exec(command)?.[1] ?? [])
  const { copied } = readDockerfile(dockerfile)
  expect(copied).toEqual(expect.arrayContaining([...modules, 'models'].map((name) => `trainer/${name}`)))
  for (const file of copied) expect(existsSync(path.join(repository, file)), file).toBe(true)
})

test('the environment is made by the uv of the tests', () => {
  expect(readBake().variable['UV']).toEqual({ default: uvVersion })
})

test('the chart names the images that are built', () => {
  const bake = readBake()
  const built = images.flatMap(({ name }) => bake.target[name]!.tags!.map((tag) => tag.split(':')[0]!))
  const values = readFileSync(path.join(repository, 'helm/trainyard/values.yaml'), 'utf8')
  const { control, engine, trainer } = (parse(values) as ChartValues).images
  const named = [control, engine.cpu, engine.cuda, trainer.cpu, trainer.cuda].map((image) => image.repository)
  expect(named.toSorted()).toEqual(built.toSorted())
})
