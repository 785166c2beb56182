import { hash } from 'node:crypto'
import { create, list, type Scope, post, type Probe, readObject, see, start } from './probes.ts'

const digestOf = (text: string) => hash('sha256', text, 'base64url').replaceAll('-', 'X').replaceAll('_', 'Y')
const one = digestOf('{"n": 1}')

/** Probes of objects' versions and of references. */
export const objectProbes = (scope: Scope): Probe[] => {
  const version = (name: string, n: number) => create(scope, name, { n })
  const remove = (name: string, wanted: string[]) =>
    post('/obj/delete', { project_id: scope.project, object_id: name, digests: wanted })
  const ref = (name: string, digest: string, path = '') => `weave:///${scope.project}/object/${name}:${digest}${path}`
  const refs = (uri: string) => post('/refs/read_batch', { refs: [uri] })
  return [
    {
      shows: 'publishing an earlier version again',
      before: [version('again', 1), version('again', 2), version('again', 1)],
      request: readObject(scope, 'again', 'latest'),
      see: see.member('obj', 'val'),
      ours: { n: 1 },
      reference: { n: 2 },
    },
    {
      shows: 'the latest version after a deletion',
      before: [version('newest', 1), version('newest', 2), remove('newest', ['v1'])],
      request: readObject(scope, 'newest', 'latest'),
      see: see.member('obj', 'val'),
      ours: { n: 1 },
      reference: undefined,
    },
    {
      shows: 'publishing a deleted version again',
      before: [version('back', 1), version('back', 2), remove('back', ['v0']), version('back', 1)],
      request: readObject(scope, 'back', one),
      see: see.member('obj', 'version_index'),
      ours: 0,
      reference: 2,
    },
    {
      shows: 'ops and objects with the same name',
      before: [version('both', 1), create(scope, 'both', { _type: 'Op', n: 2 })],
      request: readObject(scope, 'both', digestOf('{"_type": "Op", "n": 2}')),
      see: see.member('obj', 'version_index'),
      ours: 0,
      reference: 1,
    },
    {
      shows: 'paths to missing members',
      before: [version('steps', 1)],
      request: refs(ref('steps', one, '/attr/none')),
      see: see.body,
      ours: { vals: [null] },
      reference: ['reason'],
    },
    {
      shows: 'nested references',
      before: [version('inner', 1), create(scope, 'outer', { inner: ref('inner', one) })],
      // The digest contains the project's number.
      request: ([, outer]) => refs(ref('outer', (outer!.body as { digest: string }).digest, '/attr/inner/attr/n')),
      see: see.body,
      ours: { vals: [1] },
      reference: ['reason'],
    },
    {
      shows: 'references to the latest version',
      before: [version('latest', 1)],
      request: refs(ref('latest', 'latest')),
      see: see.status,
      ours: 400,
      reference: 404,
    },
    {
      shows: 'invalid references',
      request: refs('no reference'),
      see: see.status,
      ours: 400,
      reference: 500,
    },
    {
      shows: 'names that are too long',
      request: version('x'.repeat(129), 1),
      see: see.status,
      ours: 403,
      reference: 500,
    },
    {
      shows: 'values of a class of the server',
      request: create(scope, 'spec', { field_schema: { type: 7 } }, { builtin_object_class: 'AnnotationSpec' }),
      see: see.status,
      ours: 200,
      reference: 500,
    },
    {
      shows: 'sizes of objects',
      before: [version('sized', 1)],
      request: post('/objs/query', {
        project_id: scope.project,
        filter: { object_ids: ['sized'] },
        include_storage_size: true,
      }),
      see: ({ body }) => typeof (body as { objs: { size_bytes?: number }[] }).objs[0]!.size_bytes,
      ours: 'number',
      reference: 'undefined',
    },
  ]
}

/** Probes of references that lists of calls expand. */
export const expansionProbes = (scope: Scope): Probe[] => {
  const ref = (name: string, digest: string) => `weave:///${scope.project}/object/${name}:${digest}`
  const expand = (number: number, more: object = {}) =>
    list(scope, { filter: { call_ids: [scope.id(number)] }, expand_columns: ['inputs.model'], ...more })
  const text = ref('text', digestOf('"plain"'))
  const record = ref('record', one)
  return [
    {
      shows: 'references to values other than objects',
      before: [create(scope, 'text', 'plain'), start(scope, 801, { inputs: { model: text } })],
      request: expand(801),
      see: see.member('0', 'inputs', 'model'),
      ours: 'plain',
      reference: { _ref: text },
    },
    {
      shows: 'references to missing objects in lists of calls',
      before: [start(scope, 802, { inputs: { model: ref('nothing', one) } })],
      request: expand(802),
      see: see.status,
      ours: 200,
      reference: 404,
    },
    {
      shows: 'references to deleted objects in lists of calls',
      before: [
        create(scope, 'gone', { n: 1 }),
        start(scope, 804, { inputs: { model: ref('gone', one) } }),
        post('/obj/delete', { project_id: scope.project, object_id: 'gone' }),
      ],
      request: expand(804),
      see: see.member('0', 'inputs', 'model'),
      ours: null,
      reference: { _ref: ref('gone', one) },
    },
    {
      shows: 'expansion for conditions only',
      before: [create(scope, 'record', { n: 1 }), start(scope, 803, { inputs: { model: record } })],
      request: expand(803, { return_expanded_column_values: false }),
      see: see.member('0', 'inputs', 'model'),
      ours: record,
      reference: { n: 1, _ref: record },
    },
  ]
}
