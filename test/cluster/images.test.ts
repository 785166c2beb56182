import { existsSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { createHelm, parseManifests } from '../support/helm.ts'
import { repository } from '../support/images/bake.ts'
import { listCommands, listWritable, readDockerfile } from '../support/images/page.ts'
import { useStack } from '../support/stack.ts'

const helm = createHelm(useStack())

interface PodTemplate {
  spec?: {
    template?: {
      spec: { securityContext: object; containers: { image: string; command: string[]; volumeMounts?: Mount[] }[] }
    }
  }
}

interface Mount {
  mountPath: string
  readOnly?: boolean
}

async function renderPods(values: object) {
  const manifests = parseManifests(await helm.render('images', values)) as PodTemplate[]
  return manifests.flatMap(({ spec }) => spec?.template?.spec ?? [])
}

test('docs/images.md says what the chart starts, and where it writes', async () => {
  const pods = [...(await renderPods({})), ...(await renderPods({ artifacts: { s3: { bucket: 'models' } } }))]
  const containers = pods.flatMap((pod) => pod.containers).filter(({ command }) => command[0] === 'node')
  const started = new Set(containers.map(({ command }) => command.join(' ')))
  const byHand = 'node apiserver/accounts/admin/main.ts'
  expect(new Set(listCommands('control'))).toEqual(new Set([...started, byHand]))
  const mounts = containers.flatMap(({ volumeMounts = [] }) => volumeMounts)
  const folders = mounts.filter(({ readOnly }) => readOnly !== true).map(({ mountPath }) => mountPath)
  expect(new Set(listWritable('control'))).toEqual(new Set(folders))
  for (const { securityContext } of pods) expect(securityContext).toMatchObject({ runAsUser: 1000, runAsGroup: 1000 })
})

test('the image has the files that are started', () => {
  const { copied } = readDockerfile('helm/images/control.Dockerfile')
  const files = listCommands('control').map((command) => command.split(' ').at(-1)!)
  for (const file of files) {
    expect(existsSync(path.join(repository, file)), file).toBe(true)
    expect(copied).toContain(file.split('/')[0])
  }
})
