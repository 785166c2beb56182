import { isDeepStrictEqual } from 'node:util'
import { amend } from './amendments.ts'
import { translate } from './dialect.ts'
import { makeStep } from './generate.ts'
import { type MadeIds, normalize } from './normalize.ts'
import { type Answer, type Request, send, type Server } from './request.ts'
import { learn } from './learn.ts'
import { createWorld, type Step, type World } from './world.ts'

/** A server, and whether it is the reference. The reference needs translated requests. */
export interface Contestant extends Server {
  isReference: boolean
}

/** Two answers that differ without a listed difference. */
export interface Mismatch {
  seed: number
  what: string
  requests: Request[]
  ours: Answer
  /** The expected answer: the reference's answer, changed by the listed differences. */
  expected: Answer
}

export interface Outcome {
  requests: number
  mismatches: Mismatch[]
  /** The names of listed differences that occurred. */
  met: Set<string>
}

/** Runs one sequence of steps on both servers, in its own project. */
export async function compareSequence(
  pair: [Contestant, Contestant],
  options: { entity: string; seed: number; steps: number },
) {
  const { entity, seed } = options
  const world = createWorld(entity, seed)
  const outcome: Outcome = { requests: 0, mismatches: [], met: new Set() }
  // Digests contain the number that the project has here.
  if (!pair[0].isReference) await createProject(pair[0], world.project)
  const made: [MadeIds, MadeIds] = [new Map(), new Map()]
  for (let index = 0; index < options.steps; index++) {
    const step = makeStep(world, index)
    const answers = await Promise.all(pair.map((server, side) => perform(server, step, made[side]!)))
    const [ours, reference] = answers as [Performed, Performed]
    outcome.requests += step.requests.length
    judge({ isSame: pair[0].isReference, world, step, ours, reference, seed }, outcome)
  }
  return outcome
}

const upsert =
  'mutation UpsertModel($name: String!, $entity: String!) { upsertModel(input: {name: $name, entityName: $entity}) { model { name } } }'

async function createProject(server: Server, project: string): Promise<void> {
  const [entity, name] = project.split('/')
  const { status } = await send(server, { path: '/graphql', body: { query: upsert, variables: { name, entity } } })
  // A reference server in its place has no GraphQL.
  if (status !== 200 && status !== 404) throw new Error(`the project was not created: ${status}`)
}

interface Performed {
  answer: Answer
  /** The reference's answer to the original request, if it got a translated one. */
  literal?: Answer
  shows: string[]
}

async function perform(server: Contestant, step: Step, made: MadeIds): Promise<Performed> {
  const requests = server.isReference && step.instead ? step.instead : step.requests
  for (const request of requests.slice(0, -1)) {
    const answer = await send(server, request)
    if (answer.status >= 300) return { answer, shows: [] }
  }
  const last = requests.at(-1)!
  const { request, shows } = server.isReference ? translate(last) : { request: last, shows: [] }
  const answer = normalize(last, await send(server, request), made)
  if (shows.length === 0) return { answer, shows }
  return { answer, shows, literal: normalize(last, await send(server, last), made) }
}

interface Round {
  /** Whether the other server is a reference too. */
  isSame: boolean
  world: World
  step: Step
  ours: Performed
  reference: Performed
  seed: number
}

function judge({ isSame, world, step, ours, reference, seed }: Round, outcome: Outcome): void {
  const request = step.requests.at(-1)!
  const amended = amend(request, reference.answer, ours.answer)
  const { expected, shows } = isSame ? { expected: reference.answer, shows: [] } : amended
  learn(world, request, expected)
  if (!isDeepStrictEqual(ours.answer, expected)) {
    outcome.mismatches.push({ seed, what: step.what, requests: step.requests, ours: ours.answer, expected })
    return
  }
  const differs = (answer: Answer | undefined) => answer !== undefined && !isDeepStrictEqual(answer, ours.answer)
  for (const name of differs(reference.answer) ? shows : []) outcome.met.add(name)
  for (const name of differs(reference.literal) ? reference.shows : []) outcome.met.add(name)
}
