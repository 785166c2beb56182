import { expect, test } from 'vitest'
import { makeJobFacts } from '../test/support/job-objects.ts'
import { buildJobSpec } from './manifests.ts'
import { specDigest } from './spec-digest.ts'

test('the digest of an RL job is that of the first release, so that its resource can be applied again', () => {
  const facts = makeJobFacts({
    inputUri: 'artifact:///payloads/team/abc.json',
    inputDigest: 'a'.repeat(64),
    config: { learning_rate: 0.001, kimi_k2_tau: 0.5 },
  })
  expect(specDigest(buildJobSpec({ ...facts, modelCrName: 'agent-0' }))).toBe(
    'b65afd5488615660389e0d858d6865cbe05c4a50f0e512cfbd1e2224d2dccd3f',
  )
})

test('an input without a digest differs from one with a digest', () => {
  const facts = makeJobFacts({ method: 'SFT', inputUri: 'https://example.com/a' })
  const [without, having] = [null, 'a'.repeat(64)].map((inputDigest) =>
    buildJobSpec({ ...facts, inputDigest, modelCrName: 'agent-0' }),
  )
  expect(without!.inputRef).toEqual({ uri: 'https://example.com/a' })
  expect(specDigest(without!)).not.toBe(specDigest(having!))
})
