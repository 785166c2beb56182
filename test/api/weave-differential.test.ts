import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { defaultEntity } from '../../local/stack/api-key.ts'
import { chooseCases, countRuns, isNightly } from '../support/random-cases.ts'
import { useOwnStack } from '../support/api-server.ts'
import { callProbes } from '../clients/weave-differential/call-probes.ts'
import { compareSequence, type Contestant, type Mismatch, type Outcome } from '../clients/weave-differential/compare.ts'
import { differences } from '../clients/weave-differential/differences.ts'
import { normalize } from '../clients/weave-differential/normalize.ts'
import { expansionProbes, objectProbes } from '../clients/weave-differential/object-probes.ts'
import { feedbackProbes, otherProbes, tableProbes } from '../clients/weave-differential/other-probes.ts'
import { writePage } from '../clients/weave-differential/page.ts'
import { makeScope, type Probe, read, start } from '../clients/weave-differential/probes.ts'
import { queryProbes } from '../clients/weave-differential/query-probes.ts'
import { type Reference, startReference } from '../clients/weave-differential/reference.ts'
import { type Answer, send, type Server } from '../clients/weave-differential/request.ts'

// Each sequence has its own project.
const { seed: firstSeed, numRuns: sequences } = chooseCases(1)
// Some listed differences have no probe. In a nightly run, sequences continue until each of them has occurred.
const maxSequences = isNightly() ? 10 * sequences : sequences
const steps = 60
const timeout = 1_200_000 * countRuns()

const stack = await useOwnStack()
const scope = makeScope(defaultEntity, randomUUID())
const makeProbes = [callProbes, queryProbes, objectProbes, expansionProbes, tableProbes, feedbackProbes, otherProbes]
const probes = makeProbes.flatMap((make) => make(scope))
const known = Object.values(differences).flat()
const unprobed = known.map(({ name }) => name).filter((name) => probes.every(({ shows }) => shows !== name))
const met = new Set<string>()

let ours: Contestant
let references: Reference[]
const asReference = ({ url }: Reference): Contestant => ({ url, apiKey: 'any', user: ours.user, isReference: true })

beforeAll(async () => {
  const server = { url: stack.url, apiKey: stack.apiKey, user: '' }
  ours = { ...server, user: await readUser(server), isReference: false }
  references = await Promise.all([startReference(ours.user, ours), startReference(ours.user, ours)])
}, 300_000)

afterAll(() => Promise.all((references ?? []).map(({ stop }) => stop())))

/** The user of a key. The reference gives its records the same user. */
async function readUser(server: Server): Promise<string> {
  await send(server, start(scope, 0))
  const { body } = await send(server, read(scope, 0))
  return (body as { call: { wb_user_id: string } }).call.wb_user_id
}

/**
 * Runs sequences one after the other while `goesOn` is true for their number and for the differences that have
 * occurred.
 */
async function compare(
  pair: [Contestant, Contestant],
  firstOf: number,
  goesOn: (count: number, met: Set<string>) => boolean,
): Promise<Outcome> {
  const whole: Outcome = { requests: 0, mismatches: [], met: new Set() }
  for (let count = 0; goesOn(count, whole.met); count++) {
    const outcome = await compareSequence(pair, { entity: defaultEntity, seed: firstOf + count, steps })
    whole.requests += outcome.requests
    whole.mismatches.push(...outcome.mismatches)
    for (const name of outcome.met) whole.met.add(name)
  }
  return whole
}

const once = (count: number) => count === 0

/** Describes a mismatch. Its `seed` reproduces it. */
const describeMismatch = (mismatch: Mismatch) => JSON.stringify(mismatch, null, 2)

test("generated requests get the reference's answers, except for the listed differences", { timeout }, async () => {
  const goesOn = (count: number, found: Set<string>) =>
    count < sequences || (count < maxSequences && unprobed.some((name) => !found.has(name)))
  const outcome = await compare([ours, asReference(references[0]!)], firstSeed, goesOn)
  for (const name of outcome.met) met.add(name)

  expect(outcome.mismatches.slice(0, 5).map(describeMismatch)).toEqual([])
  expect(outcome.requests).toBeGreaterThan(50 * sequences)
})

describe('a listed difference still exists', () => {
  test.each(probes)('$shows', async (probe) => {
    expect([await look(ours, probe), await look(asReference(references[0]!), probe)]).toEqual([
      probe.ours,
      probe.reference,
    ])
    met.add(probe.shows)
  })

  test('every difference that occurred is listed, and in a nightly run, every listed one occurred', () => {
    const names = known.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining([...met]))
    if (isNightly()) expect([...met].toSorted()).toEqual(names.toSorted())
  })

  test('the page lists every difference', async () => {
    const page = path.join(import.meta.dirname, '..', '..', 'docs', 'tracing-differences.md')
    expect(await readFile(page, 'utf8')).toBe(writePage())
  })
})

async function look(server: Contestant, { before = [], request, see }: Probe): Promise<unknown> {
  const answers: Answer[] = []
  for (const earlier of before) answers.push(await send(server, earlier))
  const asked = typeof request === 'function' ? request(answers) : request
  return see(normalize(asked, await send(server, asked), new Map()))
}

describe('the comparison itself', () => {
  const seed = firstSeed + maxSequences

  test('finds nothing between two reference servers', async () => {
    const { mismatches, requests } = await compare(
      [asReference(references[0]!), asReference(references[1]!)],
      seed,
      once,
    )
    expect(mismatches.map(describeMismatch)).toEqual([])
    expect(requests).toBeGreaterThan(50)
  })

  test('finds the differences if the reference gets the untranslated request', async () => {
    const [first, second] = references.map(asReference) as [Contestant, Contestant]
    const { mismatches } = await compare([{ ...first, isReference: false }, second], seed + 1, once)
    expect(mismatches.length).toBeGreaterThan(0)
  })
})
