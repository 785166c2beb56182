import fc from 'fast-check'
import { WrittenNumber, type Tree } from './documents.ts'

interface FeedbackRow {
  type: string
  payload: Tree
  runnableRef: string | null
}

/** A call as the evaluator sees it. Times are microseconds since 1970. */
export interface CallRow {
  id: string
  traceId: string
  parentId: string | null
  threadId: string | null
  opName: string
  displayName: string | null
  exception: string | null
  wbRunStep: number | null
  startedAt: number
  endedAt: number | null
  descendantErrors: boolean
  attributes: Tree
  inputs: Tree
  output: Tree | undefined
  summary: Tree | undefined
  inputRefs: string[] | null
  /** In the order of creation. */
  feedback: FeedbackRow[]
}

export const projectId = 'team/project'
const refOf = (name: string) => `weave:///${projectId}/object/${name}`
/** Objects by name and digest. */
export const objects: Record<string, Tree> = {
  'config:d1': { a: '10', b: { a: new WrittenNumber('3') }, list: ['x', 'abc'] },
  'model:d1': { a: new WrittenNumber('2'), b: refOf('config:d1'), 'c.d': 'x' },
  'loop:d1': { a: refOf('loop:d1/attr/a'), b: refOf('loop:d1') },
}
export const refs = [
  'config:d1 model:d1 loop:d1 gone:d1 model:other config:d1/attr/b config:d1/attr/list/index/1 config:d1/id/x',
  'model:d1/attr/b/attr/b model:d1/key/c.d model:d1/key/c%2Ed loop:d1/attr/a/attr/a',
].flatMap((names) => names.split(' ').map(refOf))

export const texts = [
  String.raw`x X 10 9 -1 +3 1e3 1e400 true false 1 0 abc ABc null NaN 5. .5 " ' {"a":1} $1`,
  String.raw`a%b a_b aXb % _ \ a\b é É 😀` + ' \uFFEE',
].flatMap((line) => line.split(' ').concat('', ' 1'))

const numbers = [
  '0 -0 1 1.0 10 9 2.5 1e3 1E3 -1e-7 1e400 -1e400 1e-400 0.1 3 9007199254740993 123456789012345678901',
  `1${'0'.repeat(400)}`,
].flatMap((line) => line.split(' '))

const scalar: fc.Arbitrary<Tree> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...texts) },
  { weight: 3, arbitrary: fc.constantFrom(...numbers).map((written) => new WrittenNumber(written)) },
  { weight: 1, arbitrary: fc.boolean() },
  { weight: 1, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: fc.constantFrom(...refs) },
)

const document: fc.Arbitrary<Record<string, Tree>> = fc.letrec<{ tree: Tree; document: Record<string, Tree> }>(
  (tie) => ({
    tree: fc.oneof(
      { maxDepth: 2 },
      { weight: 5, arbitrary: scalar },
      { weight: 2, arbitrary: tie('document') },
      { weight: 1, arbitrary: fc.array(tie('tree'), { maxLength: 3 }) },
    ),
    document: fc.dictionary(fc.constantFrom('a', 'b', 'c.d', 'list', '0'), tie('tree'), { maxKeys: 4 }),
  }),
).document

const withModel = fc
  .tuple(document, fc.option(fc.oneof(fc.constantFrom(...refs), document), { freq: 2 }))
  .map(([inputs, model]) => (model === null ? inputs : { ...inputs, model }))

const second = 1_000_000
const day = Date.parse('2026-01-31T12:00:00Z') * 1_000
const startedAt = fc
  .tuple(fc.nat(5), fc.constantFrom(0, 1, 123_456, 500_000))
  .map(([s, micros]) => day + s * second + micros)

const some = <T>(...values: T[]) => fc.constantFrom(null, ...values)

const feedback = fc.record({
  type: fc.constantFrom('wandb.reaction.1', 'wandb.runnable.a.b', 'note]x'),
  payload: document,
  runnableRef: some(...refs),
})

export const call: fc.Arbitrary<Omit<CallRow, 'id'>> = fc
  .record({
    traceId: fc.constantFrom('t1', 't2'),
    parentId: some('c1', 'c2'),
    threadId: some('h1', ''),
    opName: fc.constantFrom(
      'x',
      'abc',
      `weave:///${projectId}/op/abc:d1`,
      `weave:///${projectId}/op/abcd:d1`,
      refOf('abc:d1'),
    ),
    displayName: some('x', 'ABc', '10'),
    exception: some('boom'),
    wbRunStep: some(0, 1, 10, 1_000_000_000_000),
    startedAt,
    endedAt: fc.option(fc.nat(3_000_000)),
    descendantErrors: fc.boolean(),
    attributes: document,
    inputs: withModel,
    output: fc.oneof(document, scalar, fc.constant(undefined)),
    summary: fc.option(document, { nil: undefined }),
    inputRefs: fc.option(fc.subarray(refs, { minLength: 1, maxLength: 3 })),
    feedback: fc.array(feedback, { maxLength: 3 }),
  })
  .map((row) => ({ ...row, endedAt: row.endedAt === null ? null : row.startedAt + row.endedAt }))
