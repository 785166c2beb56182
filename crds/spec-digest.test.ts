import { expect, test } from 'vitest'
import { buildJobSpec } from './manifests.ts'
import { specDigest } from './spec-digest.ts'

test('the digest of an RL job stays what it was in the first release: its resource, applied again, is known', () => {
  const job = {
    method: 'RL' as const,
    inputUri: 'artifact:///payloads/team/abc.json',
    inputDigest: 'a'.repeat(64),
    config: { learning_rate: 0.001, kimi_k2_tau: 0.5 },
    modelCrName: 'agent-0',
  }
  expect(specDigest(buildJobSpec(job))).toBe('b65afd5488615660389e0d858d6865cbe05c4a50f0e512cfbd1e2224d2dccd3f')
})

test('an input without a digest is another than one with it', () => {
  const job = { method: 'SFT' as const, inputUri: 'https://example.com/a', config: {}, modelCrName: 'agent-0' }
  const [without, having] = [null, 'a'.repeat(64)].map((inputDigest) => buildJobSpec({ ...job, inputDigest }))
  expect(without!.inputRef).toEqual({ uri: 'https://example.com/a' })
  expect(specDigest(without!)).not.toBe(specDigest(having!))
})
